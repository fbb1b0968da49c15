from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, seeds
from helpers.exercises.lab16 import shared

ROWS = ((1, 5, 1), (2, 3, 2), (3, 7, 3), (4, 4, 4), (5, 3, 5), (4, 18, 6), (7, 181, 7))  # ranks, elements, seed


def _case(size: int, elements: int, seed: int) -> Case:
    return shared.summed(size, elements, seed, 2, lambda held: held)


def drawn(dice: np.random.Generator) -> list[Case]:
    many = int(dice.integers(5, 12))  # one element is missing to the next multiple
    sizes = ((int(dice.integers(2, 6)), int(dice.integers(1, 30))), (many + 1, int(dice.integers(1, many))),
             (many, many * int(dice.integers(21, 40)) - 1))  # fmt: skip
    return [_case(*each, seed) for each, seed in zip(sizes, seeds(dice, 3), strict=True)]


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]


MEASURES = {
    "steps over the least": shared.steps,
    "bytes over the least": shared.sent,
}
