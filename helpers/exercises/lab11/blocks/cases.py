from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out
from helpers.exercises.lab11.linear import cases as linear
from helpers.exercises.lab11.linear.cases import SLICE, THREADS, TILE

SHAPES = ((32, 64, 32), (64, 128, 32), (32, 192, 96))


def _case(m: int, k: int, n: int, seed: int = 0) -> Case:
    dice = np.random.default_rng(seed or m + k + n)
    slices = k // SLICE
    x, w = (dice.integers(-127, 128, shape, dtype=np.int8) for shape in ((m, k), (n, k)))
    # Powers of two, so that sums of float are exact in any order.
    sx, sw = ((2.0 ** -dice.integers(8, 11, (rows, slices))).astype(np.float32) for rows in (m, n // TILE))
    expected = np.zeros((m, n))
    for each in range(slices):
        part = slice(SLICE * each, SLICE * (each + 1))
        products = x[:, part].astype(np.int64) @ w[:, part].T.astype(np.int64)
        expected += products * sx[:, each, None].astype(np.float64) * np.repeat(sw[:, each], TILE)
    arguments = (x, w, sx, sw, Out(expected.astype(np.float32)), *map(np.int32, (m, k, n)))
    return Case(f"{m} × {k} inputs, {n} outputs", arguments, (n // TILE, m // TILE), (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = (TILE * int(dice.integers(1, 4)), SLICE * int(dice.integers(2, 4)), TILE * int(dice.integers(2, 4)))
    whole = (TILE * int(dice.integers(2, 4)), SLICE * int(dice.integers(4, 6)), TILE * int(dice.integers(2, 4)))
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in (odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(64, 256, 96)


MEASURES = {label: linear.MEASURES[label] for label in ("instructions per 16 x 16 x 16",)}
