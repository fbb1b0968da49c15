from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.checking.measures import load_requests_for_needed, waits_alone

TILE = 128


def _case(rows: int, tiles: int) -> Case:
    x = numbers((rows, TILE * tiles), seed=rows + tiles)
    name = f"{plural(rows, 'row')} of {plural(tiles, 'tile')}"
    return Case(name, (x, Out(x.sum(1)), np.int32(tiles)), (rows,), (32,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1), (1, 2), (3, 3), (5, 8), (2, 5))]


def measured() -> Case:
    return _case(4, 16)


MEASURES = {
    "waits of a warp with no other copy in flight": waits_alone,
    "load requests for each 128 bytes": load_requests_for_needed,
    "instructions for 4 rows of 2,048 elements": lambda profile: profile["instructions"],
}
