from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, plural
from helpers.checking.measures import loaded_for_needed, outside_registers, special_functions
from helpers.exercises.lab12.budgets import ARITHMETIC, WARP, vectors
from helpers.exercises.lab12.shared import HEAD, attended, given

WARPS = 4


def _case(heads: int, n: int, scale: float, seed: int = 1) -> Case:
    q, k, v = given((heads, 1, HEAD), (heads, n, HEAD), seed)
    expected = attended(q, k, v, scale)[:, 0]
    name = f"{plural(heads, 'head')} of {plural(n, 'key')}, times {scale:g}"
    return Case(name, (q[:, 0], k, v, Out(expected), np.float32(scale)), (cover(heads, WARPS),), (WARPS * WARP,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 32)), 0.25), (int(dice.integers(5, 9)), int(dice.integers(33, 150)), 0.125)]
    whole = (int(dice.integers(5, 9)), WARP * int(dice.integers(6, 9)), 0.25)
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*size) for size in ((1, 1, 0.25), (2, 31, 0.125), (3, 97, 0.25), (5, 64, 0.125))]


def measured() -> Case:
    return _case(6, 256, 0.25)


def _exponentials_for_keys(profile: Cost) -> float:
    """Special functions of all threads for each key, which is two vectors with its value."""
    keys = vectors(profile) / 2
    return special_functions(profile, ARITHMETIC * keys) / keys


MEASURES = {
    "bytes loaded per byte needed": loaded_for_needed,
    "special functions per key": _exponentials_for_keys,
    "shared and local requests": outside_registers("shared_requests", "local_requests", "global_update_requests"),
}
