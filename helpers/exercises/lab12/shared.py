"""What the exercises of lab 12 share: data whose exponentials overflow, and attention in NumPy."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import fractions

HEAD, FAR = 32, 128
"""How wide a head is; and the first number of a query, up to its sign: it makes scores whose exponentials overflow."""


def given(of_queries: tuple[int, ...], of_keys: tuple[int, ...], seed: int) -> tuple[np.ndarray, ...]:
    """q, k and v; scores are far above 0 for one row of numbers and far below for the next, and float32 holds them."""
    q, k, v = fractions(of_queries, seed) / 2, fractions(of_keys, seed + 1) / 4, fractions(of_keys, seed + 2)
    signs = np.where(np.arange(q[..., 0].size) % 2, -1, 1).reshape(q.shape[:-1])
    q[..., 0], k[..., 0] = FAR * signs, 8 + k[..., 0] / 8
    return q, k, v


def attended(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, seen: np.ndarray | bool = True) -> np.ndarray:
    """Attention over the last two axes, in float64; `seen`: which keys a query sees, of shape (queries, keys)."""
    scores = scale * (q.astype(np.float64) @ k.astype(np.float64).swapaxes(-2, -1))
    scores = np.where(seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True) @ v).astype(np.float32)
