from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, seeds
from helpers.exercises.lab15.shared import scores, sigmoid, softplus


def _case(fake: np.ndarray, called: str) -> Case:
    exact = fake.astype(np.float64)
    gradient = (sigmoid(exact) - 1) / len(fake)
    return Case(
        called,
        (fake,),
        expected=(softplus(-exact).mean(keepdims=True)[0].astype(np.float32), gradient.astype(np.float32)),
    )


def _random(count: int, seed: int, shift: float) -> Case:
    sure = {0.0: "", -12.0: ", scored low", -200.0: ", scored very low", 6.0: ", scored high"}[shift]
    return _case(scores(count, seed) + np.float32(shift), f"{count} drawn{sure}")


def drawn(dice: np.random.Generator) -> list[Case]:
    shifts = (0.0, -12.0, 6.0, -200.0)
    return [_random(int(dice.integers(2, 40)), s, by) for by, s in zip(shifts, seeds(dice, 4), strict=True)]


def cases() -> list[Case]:
    return [
        _case(np.full((1, 1), 2.0**-10, np.float32), "one, undecided"),  # at 0 itself, |s| has no gradient
        *(_random(*each) for each in ((4, 1, 0.0), (9, 2, -12.0), (6, 3, 6.0), (5, 4, -200.0))),
    ]
