"""Counts in words, for messages, figures and reports alike."""

from __future__ import annotations

import re
from collections.abc import Sequence


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 row`, `1,000 rows`, `2 launches`; `many` where the plural is formed otherwise."""
    ending = "es" if noun.endswith(("s", "ch", "x")) else "s"
    return f"{count:,} {noun if count == 1 else many or noun + ending}"


def sizes(dims: Sequence[int], times: str = "×") -> str:
    """(4, 2, 1) as "4×2": a grid or a block without the ones at its end, and with one number at least."""
    used = max((at + 1 for at, size in enumerate(dims) if size != 1), default=1)
    return times.join(map(str, dims[:used]))


def function_name(mangled: str) -> str:
    """The name of a C++ function outside namespaces, without its types: "_Z4ringILi3EEvPf" as "ring"."""
    found = re.match(r"_Z(\d+)", mangled)
    return mangled[found.end() :][: int(found[1])] if found else mangled
