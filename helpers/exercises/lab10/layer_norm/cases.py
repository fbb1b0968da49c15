from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.checking.measures import per_warp
from helpers.exercises.lab10.budgets import BLOCK


def _case(rows: int, n: int, epsilon: float = 1e-5, seed: int = 0) -> Case:
    x, weight, bias = (numbers(shape, seed=(seed or n) + k) for k, shape in enumerate(((rows, n), (n,), (n,))))
    x += np.float32(2000) * (np.arange(rows) % 2).astype(np.float32)[:, None]  # far from 0, as seen from the deviation
    exact, eps = x.astype(np.float64), np.float32(epsilon)
    rstd = 1 / np.sqrt(exact.var(axis=1, keepdims=True) + eps)
    wanted = ((exact - exact.mean(axis=1, keepdims=True)) * rstd * weight + bias).astype(np.float32)
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}, eps {eps:g}"
    return Case(name, (x, weight, bias, Out(wanted), np.int32(n), eps), (rows,), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(2, int(dice.integers(2, 200)), 2.0), (int(dice.integers(3, 6)), int(dice.integers(257, 900)), 1e-5)]
    whole = (int(dice.integers(4, 7)), BLOCK * int(dice.integers(4, 9)), 0.5)
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (2, 31, 2), (3, 256), (2, 300, 2), (3, 2048))]


def measured() -> Case:
    return _case(4, 1024)


MEASURES = {
    "barriers per warp": per_warp("synchronisations"),
}
