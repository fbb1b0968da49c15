from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import loaded_for_needed, outside_registers, special_functions
from helpers.exercises.lab10.budgets import WARP

ARITHMETIC = 18  # operations for an element: about ten of them are `expf`'s, of up to 1,024 elements a row of 832 has
WARPS = 4


def _case(rows: int, n: int, scale: float, seed: int = 0) -> Case:
    x = numbers((rows, n), seed=seed or n)
    x += np.float32(400) * (np.arange(rows) % 3 - 1).astype(np.float32)[:, None]  # beyond exp, on either side
    scaled = x.astype(np.float64) * np.float32(scale)
    power = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    wanted = (power / power.sum(axis=1, keepdims=True)).astype(np.float32)
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}, times {scale:g}"
    arguments = (x, Out(wanted), np.int32(rows), np.int32(n), np.float32(scale))
    return Case(name, arguments, (cover(rows, WARPS),), (WARPS * WARP,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 32)), 1.0), (int(dice.integers(5, 12)), int(dice.integers(33, 1000)), 0.5)]
    whole = (int(dice.integers(5, 9)), WARP * int(dice.integers(26, 33)), 0.125)
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1, 1), (2, 31, 0.5), (5, 97, 1), (3, 1024, 0.25), (6, 501, 0.125))]


def measured() -> Case:
    return _case(6, 1024, 0.125)


def _exponentials_for_elements(profile: Cost) -> float:
    """Special functions of all threads for each element of the result, beside one `expf` and what goes with it."""
    elements = profile.needed.written_bytes / 4
    return special_functions(profile, ARITHMETIC * elements) / elements


MEASURES = {
    "bytes loaded per byte needed": loaded_for_needed,
    "requests to local memory": outside_registers("local_requests"),
    "special functions per element": _exponentials_for_elements,
}
