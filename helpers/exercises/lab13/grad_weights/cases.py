from __future__ import annotations

import math

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, numbers
from helpers.checking.measures import busiest_for_needed, outside_registers
from helpers.exercises.lab13 import shared

SIZES = ((1, 1, 1, 1, 1, 1), (1, 1, 3, 3, 1, 3), (2, 3, 5, 7, 4, 3), (3, 2, 8, 9, 5, 5), (9, 2, 7, 6, 3, 2))


def _case(n: int, c: int, h: int, w: int, k: int, r: int, seed: int = 1) -> Case:
    x, g = numbers((n, c, h, w), seed), numbers((n, k, h - r + 1, w - r + 1), seed + 1)
    sizes = tuple(map(np.int32, (n, c, h, w, k, r)))
    wanted = Out(shared.grad_weights(x, g, r).astype(np.float32), initial=np.zeros((k, c, r, r), np.float32))
    return Case(shared.name(n, c, h, w, k, r), (x, g, wanted, *sizes), (k * c * r * r,), (128,))


def _busiest_warp(profile: Cost) -> float:
    """What the busiest warp does; it needs two requests for a term of each of its lanes."""
    _, g, *_ = profile.case.arguments
    return busiest_for_needed(profile, 2 * g.size / g.shape[1] / math.prod(profile.counters.block))


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(16, *shared.MEASURED)


def drawn(dice: np.random.Generator) -> list[Case]:
    return [_case(*size) for size in shared.sizes(dice, (16, 25))]


MEASURES = {
    "shared requests per warp": lambda profile: outside_registers("shared_requests")(profile) / profile.counters.warps,
    "busiest warp by average": _busiest_warp,
}
