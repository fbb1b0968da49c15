from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, numbers

# name, filters, taps, eps
LAYERS = (
    ("one filter of one tap", 1, 1, 1e-5),
    ("one filter of nine taps", 1, 9, 1e-5),
    ("as many filters as taps", 4, 4, 1e-5),
    ("filters of four channels", 3, 36, 1e-3),
    ("a large eps", 5, 2, 1.0),
)


def _case(name: str, filters: int, taps: int, eps: float) -> Case:
    weight = numbers((filters, taps), seed=taps).astype(np.float64)
    mean, gain, shift = (numbers(filters, seed=seed).astype(np.float64) for seed in (1, 2, 3))
    variance = np.random.default_rng(filters).uniform(0.1, 4.0, filters)
    scale = gain / np.sqrt(variance + eps)
    wanted = np.column_stack([weight * scale[:, None], shift - mean * scale])
    return Case(name, (weight, mean, variance, gain, shift, eps), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in LAYERS]
