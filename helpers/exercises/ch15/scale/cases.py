from __future__ import annotations

import math

from helpers.checking.exercise import Case

LARGEST, HALF = 65504, 2.0**-25
SIZES = (
    ("one gradient of 1", (1.0,)),
    ("exactly at the end", (65504.0, 1e-3)),
    ("just beyond the end", (65504.5, 1.0)),
    ("a power of two at the end", (2.0**-10, 2.0**-30, 0.0)),
    ("sizes over many powers of two", (3e-3, 2e-9, 4e-17, 0.0, 7e-15, 1e-16)),
    ("near half of the smallest value", (1.0, 1.5 * 2.0**-40, 2.0**-40, 0.9 * 2.0**-40)),
    ("all are tiny", (1e-9, 3e-12, 2e-10)),
    ("some are too large already", (2e5, 1e-2, 1e-6, 1e-8)),
    ("zeros are not lost", (0.5, 0.0, 0.0)),
)


def _case(name: str, sizes: tuple[float, ...]) -> Case:
    scale = 2.0 ** math.floor(math.log2(LARGEST / max(sizes)))
    return Case(name, (list(sizes),), expected=(scale, sum(0 < size * scale <= HALF for size in sizes)))


def cases() -> list[Case]:
    return [_case(*each) for each in SIZES]
