from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.exercises.lab03.cases import SHAPES, shapes_drawn

WARP = 32


def _case(rows: int, n: int, seed: int = 0, weight: float | None = None) -> Case:
    x = numbers((rows, n), seed=seed or n)
    alpha = np.float32(weight or (0.5 if n % 2 else 0.25))
    found, now = np.empty(x.shape), x[:, 0].astype(float)
    for column in range(n):
        now = now + float(alpha) * (x[:, column] - now)
        found[:, column] = now
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}"
    arguments = (x, Out(found.astype(np.float32)), np.int32(rows), np.int32(n), alpha)
    return Case(name, arguments, (cover(rows, WARP),), (WARP,))


def drawn(dice: np.random.Generator) -> list[Case]:
    return [
        _case(*shape, int(dice.integers(1, 10**6)), int(dice.choice([1, 3, 5, 7])) / 8) for shape in shapes_drawn(dice)
    ]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(64, 160)
