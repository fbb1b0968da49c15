from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, seeds
from helpers.exercises.lab15.shared import scores, softplus


def _case(real: np.ndarray, fake: np.ndarray, called: str) -> Case:
    wanted = float(softplus(-real.astype(np.float64)).mean() + softplus(fake.astype(np.float64)).mean())
    return Case(called, (real, fake), expected=wanted)


def _random(n_real: int, n_fake: int, seed: int, spread: float = 3.0) -> Case:
    called = f"{n_real} real and {n_fake} drawn" + (", very sure" if spread > 100 else "")
    return _case(scores(n_real, seed, spread), scores(n_fake, seed + 1, spread), called)


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = ((int(dice.integers(1, 40)), int(dice.integers(1, 40)), spread) for spread in (1.0, 4.0, 200.0))
    return [_random(n, m, s, spread) for (n, m, spread), s in zip(sizes, seeds(dice, 3), strict=True)]


def cases() -> list[Case]:
    return [
        _case(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32), "one of each, undecided"),
        _case(np.full((1, 1), 2, np.float32), np.full((1, 1), -1, np.float32), "one of each, both right"),
        *(_random(*each) for each in ((5, 5, 1), (3, 8, 3), (16, 16, 5, 200.0))),
    ]
