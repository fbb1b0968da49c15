from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, plural
from helpers.exercises.lab11.budgets import stores
from helpers.exercises.lab11.codes import rounded
from helpers.models.number_formats import FORMATS

GROUP, THREADS, LEAST = 16, 128, 2.0**-9
FP4, E4M3 = FORMATS["E2M1"], FORMATS["E4M3"]
SIZES = FP4.between(0, 6)
TIES = (SIZES[1:] + SIZES[:-1]) / 2


def quantised(x: np.ndarray, unit: float) -> np.ndarray:
    """The codes of all numbers, two in a byte, then the scales of all groups in E4M3."""
    groups = x.reshape(-1, GROUP).astype(np.float64)
    scales = E4M3.nearest(np.maximum(np.abs(groups).max(axis=1, keepdims=True) / 6 / unit, LEAST))
    values = np.clip(FP4.nearest(groups / (scales * unit)), -6, 6).ravel()
    codes = np.searchsorted(SIZES, np.abs(values)) + 8 * np.signbit(values)
    return np.concatenate([codes[::2] | codes[1::2] << 4, rounded(scales).ravel()]).astype(np.uint8)


def _case(groups: int, seed: int = 0) -> Case:
    """Groups of different size, clear of ties; then one of zeros, one below the smallest scale, and one of ties."""
    dice = np.random.default_rng(seed or groups)
    exact = groups % 2 == 1  # then unit is a power of two, and ties stay ties
    unit = 2.0 ** int(dice.integers(-6, 3)) * (1 if exact else float(np.float32(dice.uniform(1, 2))))
    codes = dice.integers(8, 0x7F, (groups, 1))  # of scales that are not subnormal
    scales = (1 + codes % 8 / 8) * 2.0 ** (codes // 8 - 7)
    x = dice.uniform(-5.7, 5.7, (groups, GROUP))
    x = np.where(np.abs(x) < 0.25, np.abs(x), x)  # no zero has a sign
    x[np.abs(np.abs(x)[..., None] - TIES).min(axis=-1) < 0.01] = 3
    largest = 6 * dice.uniform(0.975, 1.025, groups) * dice.choice([-1, 1], groups)
    x[np.arange(groups), dice.integers(GROUP, size=groups)] = largest
    x *= scales * unit
    x[1::5] = 0
    if groups > 3:
        x[2] = unit * LEAST * np.linspace(0.1, 1.4, GROUP)
    if groups > 3 and exact:
        x[3] = 0
        x[3, : len(TIES)], x[3, -1] = 2 * unit * TIES, -12 * unit
    x = x.astype(np.float32)
    blocks = cover(x.size, 4 * THREADS)
    arguments = (x.ravel(), Out(quantised(x, unit)), np.float32(unit), np.int32(x.size))
    return Case(f"{plural(groups, 'group')} of 16", arguments, (blocks,), (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    groups = [int(dice.integers(2, 16)), 2 * int(dice.integers(17, 50)) + 1, 32 * int(dice.integers(3, 7))]
    return [_case(each, int(dice.integers(1, 10**6))) for each in groups]


def cases() -> list[Case]:
    return [_case(groups) for groups in (1, 4, 13, 37)]


def measured() -> Case:
    return _case(128)


MEASURES = {
    "store requests per 128 bytes": stores,
}
