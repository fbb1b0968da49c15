from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import loaded_for_needed
from helpers.exercises.lab10.budgets import WARP

WARPS = 4


def _case(rows: int, n: int, scale: float, seed: int = 0) -> Case:
    x, grad = numbers((rows, n), seed=seed or n), numbers((rows, n), seed=(seed or n) + 1)
    power = np.exp(x / 4 - x.max(axis=1, keepdims=True) / 4)
    p = power / power.sum(axis=1, keepdims=True)
    dot = (p.astype(np.float64) * grad).sum(axis=1, keepdims=True)
    wanted = (scale * p * (grad - dot)).astype(np.float32)
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}, times {scale:g}"
    return Case(name, (p, grad, Out(wanted), np.float32(scale)), (cover(rows, WARPS),), (WARPS * WARP,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 32)), 2.0), (int(dice.integers(5, 12)), int(dice.integers(33, 200)), 0.5)]
    whole = (int(dice.integers(5, 9)), WARP * int(dice.integers(20, 30)), 0.25)
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1, 1), (2, 31, 0.5), (5, 97, 1), (4, 32, 3), (3, 501, 0.125))]


def measured() -> Case:
    return _case(6, 1024, 0.125)


MEASURES = {
    "bytes loaded per byte needed": loaded_for_needed,
}
