"""Which element of which array a thread used that is none of it, read from the message of the error."""

from __future__ import annotations

import re
from typing import NamedTuple

_INDEX = re.compile(r"`(\w+)\[(-?\d+)\]`|element (-?\d+) \(counted flat\) of `(\w+)`")
_SIZE = re.compile(r"`(\w+)` has ([\d,]+) element")


class Left(NamedTuple):
    """An access to element `at` of `array`, which has `size` elements."""

    array: str
    at: int
    size: int


def out_of(error: Exception | None) -> Left | None:
    """The access that an `OutOfBounds` is about; None where no array is near it."""
    place, size = _INDEX.search(str(error)), _SIZE.search(str(error))
    if place is None or size is None:
        return None
    return Left(place[1] or place[4], int(place[2] or place[3]), int(size[2].replace(",", "")))
