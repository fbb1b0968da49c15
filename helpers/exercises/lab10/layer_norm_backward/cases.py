from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.checking.measures import per_warp
from helpers.exercises.lab10.budgets import BLOCK


def _case(rows: int, n: int, seed: int = 0) -> Case:
    x, grad, weight = (numbers(shape, seed=(seed or n) + k) for k, shape in enumerate(((rows, n), (rows, n), (n,))))
    x += np.float32(100) * (np.arange(rows) % 3).astype(np.float32)[:, None]
    mean, exact = x.mean(axis=1, dtype=np.float64), x.astype(np.float64)
    rstd = 1 / np.sqrt(exact.var(axis=1) + 1e-2)
    normal, scaled = (exact - mean[:, None]) * rstd[:, None], grad.astype(np.float64) * weight
    sums = scaled.mean(axis=1, keepdims=True) + normal * (scaled * normal).mean(axis=1, keepdims=True)
    wanted = Out((rstd[:, None] * (scaled - sums)).astype(np.float32))
    kept = (each.astype(np.float32) for each in (mean, rstd))
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}"
    return Case(name, (x, grad, weight, *kept, wanted), (rows,), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(2, int(dice.integers(2, 200))), (int(dice.integers(3, 6)), int(dice.integers(257, 900)))]
    whole = (int(dice.integers(4, 7)), BLOCK * int(dice.integers(3, 5)))
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (2, 31), (3, 256), (2, 300), (3, 1024))]


def measured() -> Case:
    return _case(4, 1024)


MEASURES = {
    "barriers per warp": per_warp("synchronisations"),
}
