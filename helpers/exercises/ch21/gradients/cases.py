from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case

# name, how many real numbers and latents, then a, b, w, c
GANS = (
    ("one number, one latent", 1, 1.0, 0.0, 0.5, 0.25),
    ("a generator that makes one number", 5, 0.0, 1.5, -1.0, 0.5),
    ("a discriminator that looks at nothing", 4, 1.0, -0.5, 0.0, 0.75),
    ("a sure discriminator", 8, 0.5, -1.0, 2.0, -1.0),
    ("all as usual", 16, 1.25, 0.5, -0.75, 0.25),
)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _case(name: str, count: int, a: float, b: float, w: float, c: float) -> Case:
    dice = np.random.default_rng(count)
    real, z = dice.normal(2, 1, count), dice.normal(0, 1, count)
    fake = a * z + b
    on_real, on_fake = _sigmoid(w * real + c) - 1, _sigmoid(w * fake + c)
    back = (on_fake - 1) * w
    wanted = np.array([(on_real * real + on_fake * fake).mean(), (on_real + on_fake).mean(),
                       (back * z).mean(), back.mean()])  # fmt: skip
    return Case(name, (real, z, a, b, w, c), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in GANS]
