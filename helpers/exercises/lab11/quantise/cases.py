from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, plural
from helpers.exercises.lab11.budgets import stores
from helpers.exercises.lab11.codes import rounded

GROUP, THREADS = 32, 128


def quantised(x: np.ndarray) -> np.ndarray:
    """The codes of all numbers, then the exponents of all groups, each 127 too large."""
    groups = x.reshape(-1, GROUP).astype(np.float64)
    exponent = np.maximum(np.frexp(np.abs(groups).max(axis=1))[1] - 1 - 8, -127)
    exponent[~groups.any(axis=1)] = -127
    codes = rounded(np.ldexp(groups, -exponent[:, None]))
    return np.concatenate([codes.ravel(), (exponent + 127).astype(np.uint8)])


def _case(groups: int, seed: int = 0) -> Case:
    """Groups of very different size; one of zeros, and one whose largest is just below a power of two."""
    dice = np.random.default_rng(seed or groups)
    x = dice.standard_normal((groups, GROUP)) * 10.0 ** dice.integers(-6, 5, (groups, 1))
    x = x.astype(np.float32)
    x[1::5] = 0
    if groups > 3:
        x[2, :] = np.linspace(-1, 1, GROUP) * 2.0**-121  # a byte knows no exponent so small
        x[3, :] = np.linspace(-1, 1, GROUP)
        x[3, dice.integers(GROUP)] = np.nextafter(np.float32(8), np.float32(0))
    n = x.size
    blocks = cover(n, 4 * THREADS)
    return Case(f"{plural(groups, 'group')} of 32", (x.ravel(), Out(quantised(x)), np.int32(n)), (blocks,), (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    groups = [int(dice.integers(2, 16)), int(dice.integers(17, 50)), 16 * int(dice.integers(3, 7))]
    return [_case(each, int(dice.integers(1, 10**6))) for each in groups]


def cases() -> list[Case]:
    return [_case(groups) for groups in (1, 4, 13, 21)]


def measured() -> Case:
    return _case(64)


MEASURES = {
    "store requests per 128 bytes": stores,
}
