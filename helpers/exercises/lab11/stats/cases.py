from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, plural

WARPS, EPS = 4, 1e-5


def _case(rows: int, n: int, seed: int = 0, around: float = 200) -> Case:
    """Halves of whole numbers near `around`, whose sum is beyond a half and whose spread is small."""
    dice = np.random.default_rng(seed or rows + n)
    middle = around * (1 + np.arange(rows)[:, None] % 3)
    spread = dice.integers(-8, 9, (rows, n)) / 2
    spread[3::4] = 0  # equal elements: only the small number is left under the root
    x = (middle + spread).astype(np.float16)
    exact = x.astype(np.float64)
    expected = np.stack([exact.mean(axis=1), 1 / np.sqrt(exact.var(axis=1) + EPS)], axis=1).astype(np.float32)
    name = f"{plural(rows, 'row')} of {n} halves"
    return Case(name, (x, Out(expected), np.int32(rows), np.int32(n)), (cover(rows, WARPS),), (32 * WARPS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(int(dice.integers(2, 12)), 8 * int(dice.integers(2, 100))) for _ in range(2)]
    sizes.append((WARPS * int(dice.integers(2, 4)), 256 * int(dice.integers(4, 7))))
    return [_case(*size, int(dice.integers(1, 10**6)), float(dice.integers(100, 300))) for size in sizes]


def cases() -> list[Case]:
    return [_case(*size) for size in ((1, 16), (2, 40), (5, 264), (9, 1000))]


def measured() -> Case:
    return _case(8, 1024)
