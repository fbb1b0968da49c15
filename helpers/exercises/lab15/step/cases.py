from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, numbers, plural, seeds
from helpers.checking.step_as_data import Replayed, replayed
from helpers.exercises.lab15 import shared


def _case(n: int, latent: int, pixels: int, *, seed: int) -> Case:
    shapes = (latent, pixels), (pixels, 1), (n, pixels), (n, latent)
    given = tuple(numbers(shape, seed + at) / np.float32(8) for at, shape in enumerate(shapes))

    def plays(calls: object) -> tuple[tuple[np.ndarray, np.ndarray], Replayed]:
        done = replayed(calls, given, shared.RATE, shared.ROUNDS)
        return done.weights, done

    name = f"{plural(n, 'image')} of {plural(pixels, 'pixel')}"
    return Case(name, (n, latent, pixels), expected=shared.stepped(*given), plays=plays)


def drawn(dice: np.random.Generator) -> list[Case]:
    return [_case(*(int(n) for n in dice.integers(2, 12, 3)), seed=seed) for seed in seeds(dice, 3)]


def cases() -> list[Case]:
    return [_case(1, 1, 1, seed=1), _case(4, 2, 3, seed=2), _case(7, 5, 6, seed=3)]


MEASURES = {
    "gradients through the generator per step": lambda outcome: outcome.played.passes,
}
