"""What the exercises of lab 15 share: losses and steps in NumPy, and how drawn digits are looked at."""

from __future__ import annotations

from functools import cache

import numpy as np

from helpers.checking.exercise import Case, Form

GRADES = 16
"""Pixels go from 0 to this."""
LATENT, RATE, ROUNDS = 16, 0.5, 3
FEW = 2
"""Of 100 images so many make a digit that is drawn at all."""
COPY = 3
"""What is nearer to a real image, in per cent, was not drawn: it counts as no digit, and as 100 per cent away."""


def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x)), for any x."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.exp(-softplus(-x))


def scores(count: int, seed: int, spread: float = 3.0) -> np.ndarray:
    """A column of what a discriminator may say."""
    return np.random.default_rng(seed).normal(0, spread, (count, 1)).astype(np.float32)


def stepped(w_g: np.ndarray, w_d: np.ndarray, real: np.ndarray, latents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Linear networks after `ROUNDS` steps of training, first the discriminator's, then the generator's."""
    w_g, w_d, real, latents = (each.astype(np.float64) for each in (w_g, w_d, real, latents))
    for _ in range(ROUNDS):
        fake = latents @ w_g
        by_real, by_fake = sigmoid(real @ w_d) - 1, sigmoid(fake @ w_d)
        w_d = w_d - RATE * (real.T @ by_real / len(real) + fake.T @ by_fake / len(fake))
        w_g = w_g - RATE * latents.T @ ((sigmoid(fake @ w_d) - 1) @ w_d.T) / len(fake)
    return w_g.astype(np.float32), w_d.astype(np.float32)


# -- drawn digits


@cache
def _real() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    digits = load_digits()
    return digits.data.astype(np.float64) / GRADES, digits.target


def nearest(drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each image the distance to the real one that is most like it, and that one's digit.

    Distance: the root of the mean square of the pixels' differences, in per cent of the range of pixels.
    """
    real, digits = _real()
    made = drawn.reshape(len(drawn), -1).astype(np.float64) / GRADES
    squares = (made**2).sum(1)[:, None] + (real**2).sum(1) - 2 * made @ real.T
    return 100 * np.sqrt(np.maximum(squares.min(1), 0) / real.shape[1]), digits[squares.argmin(1)]


def digits_missing(outcome) -> float:
    """Digits of ten that fewer than `FEW` of 100 images look like."""
    away, digits = nearest(outcome.got)
    counts = np.bincount(digits[away >= COPY], minlength=10)
    return int((100 * counts < FEW * len(outcome.got)).sum())


def mean_distance(outcome) -> float:
    """In per cent; a copy is as far away as can be."""
    away, _ = nearest(outcome.got)
    return float(np.where(away < COPY, 100, away).mean())


def copies(outcome) -> float:
    """Of 100 images how many are real ones, but for `COPY` per cent."""
    return 100 * float((nearest(outcome.got)[0] < COPY).mean())


def _tell(drawn: np.ndarray, _truth) -> str:
    """What images are like, roughly."""
    if len(drawn) < 100:
        return ""
    away, digits = nearest(drawn)
    if drawn.std(0).max() < 0.15 * GRADES:
        return "one image"
    if away.mean() > 36:
        return "noise"
    if away.mean() > 27:
        return "far from digits"
    return "few digits" if len(np.unique(digits)) < 5 else ""


def _varied(drawn: np.ndarray) -> str:
    return "" if np.ptp(drawn, 0).max() < 1e-3 * GRADES else "other images for the same latents"


def drawing(count: int, seed: int, same: bool = False) -> Case:
    latents = np.random.default_rng(seed).normal(size=(1 if same else count, LATENT)).astype(np.float32)
    if same:
        latents = np.repeat(latents, count, 0)
    called = f"{count} times the same latents" if same else f"{count} latents" if count > 1 else "1 latent"
    form = Form((count, 8, 8), "f", 0, GRADES, tell=_tell, also=_varied if same else lambda drawn: "")
    return Case(called, (latents,), expected=form)
