"""What the exercises of lab 15 share: losses and training steps in NumPy."""

from __future__ import annotations

import numpy as np

RATE, ROUNDS = 0.5, 3
"""Of the training steps that are replayed."""


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
