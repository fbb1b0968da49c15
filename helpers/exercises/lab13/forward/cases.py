from __future__ import annotations

import math

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, numbers
from helpers.checking.measures import busiest_for_needed, loaded_for_needed, sectors_per_request
from helpers.exercises.lab13 import shared

SIZES = ((1, 1, 1, 1, 1, 1), (1, 1, 3, 3, 1, 3), (2, 3, 5, 7, 4, 3), (3, 2, 8, 9, 5, 5), (1, 4, 9, 6, 3, 2),
         (2, 1, 4, 11, 2, 1))  # fmt: skip


def _case(n: int, c: int, h: int, w: int, k: int, r: int, seed: int = 1) -> Case:
    x, f = numbers((n, c, h, w), seed), numbers((k, c, r, r), seed + 1)
    sizes = tuple(map(np.int32, (c, h, w, k, r)))
    return Case(shared.name(n, c, h, w, k, r), (x, f, Out(shared.convolved(x, f)), *sizes), (n,), (128,))


def _busiest_warp(profile: Cost) -> float:
    """What the busiest warp does; the average counts up to 24 instructions for each product of a filter's weights."""
    _, f, y, *_ = profile.case.arguments
    products = y.expected.size * f[0].size / (32 * profile.counters.warps)
    return busiest_for_needed(profile, math.inf, 24 * products)


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(6, *shared.MEASURED)


def drawn(dice: np.random.Generator) -> list[Case]:
    return [_case(*size) for size in shared.sizes(dice, (5, 9))]


MEASURES = {
    "bytes loaded per byte needed": loaded_for_needed,
    "sectors per store request": sectors_per_request("write", most=2),
    "busiest warp by average": _busiest_warp,
}
