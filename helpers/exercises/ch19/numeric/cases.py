from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.checking.exercise import Case, numbers

Loss = Callable[[np.ndarray], float]


def squares(x: np.ndarray) -> float:
    return float((x * x).sum())


def cubes(x: np.ndarray) -> float:
    return float((x * x * x).sum())


def neighbours(x: np.ndarray) -> float:
    flat = x.ravel()
    return float((flat[:-1] * flat[1:] * flat[1:]).sum())


# name, loss, shape, step
LOSSES: tuple[tuple[str, Loss, tuple[int, ...], float], ...] = (
    ("the square of one number", squares, (1,), 0.5),
    ("a sum of squares", squares, (2, 3), 0.25),
    ("a sum of cubes, a large step", cubes, (4,), 1.0),
    ("a sum of cubes, a small step", cubes, (2, 2), 2.0**-10),
    ("products of neighbours", neighbours, (7,), 0.5),
    ("products of neighbours, three dimensions", neighbours, (2, 2, 3), 0.25),
)


def _case(name: str, loss: Loss, shape: tuple[int, ...], step: float) -> Case:
    x = numbers(shape, seed=len(name)).astype(np.float64)
    wanted = np.zeros(shape)
    for place in np.ndindex(*shape):
        move = np.zeros(shape)
        move[place] = step
        wanted[place] = (loss(x + move) - loss(x - move)) / (2 * step)
    return Case(name, (loss, x, step), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in LOSSES]
