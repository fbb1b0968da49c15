from __future__ import annotations

import math

import numpy as np

from helpers.checking.exercise import Case, Out, plural
from helpers.checking.measures import outside_registers, per_warp
from helpers.exercises.lab05.budgets import BLOCK

NOT_WRITTEN = -9


def _case(rows: int, n: int, seed: int = 0, readings: float = 0.2) -> Case:
    dice = np.random.default_rng(seed or n)
    x = np.where(dice.random((rows, n)) < readings, dice.integers(0, 40, (rows, n)), -1).astype(np.int32)
    x[0] = np.where(np.arange(n) == n // 9, 7, -1)  # one reading, then none any more
    if rows > 1:
        x[1, 0], x[1, n // 2] = 5, 0
    # Each gap (below zero) takes the last reading before it in its row.
    last = np.maximum.accumulate(np.where(x >= 0, np.arange(n), -1), axis=1)
    filled = np.where(last >= 0, np.take_along_axis(x, np.maximum(last, 0), axis=1), -1).astype(np.int32)
    # Bytes 0xFF would be -1, which is also what an element without a reading before it must hold.
    wanted = Out(filled, initial=np.full(x.shape, NOT_WRITTEN, np.int32))
    return Case(f"{plural(rows, 'row')} of {plural(n, 'element')}", (x, wanted, np.int32(n)), (rows,), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(rows, int(dice.integers(*band))) for rows, band in ((2, (2, 32)), (3, (33, 128)), (4, (129, 256)))]
    sizes.append((int(dice.integers(5, 12)), 8 * int(dice.integers(28, 1 + BLOCK // 8))))  # rows begin at a sector
    return [_case(*size, int(dice.integers(1, 10**6)), dice.uniform(0.02, 0.3)) for size in sizes]


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (2, 31), (3, 97), (4, 128), (5, 251), (6, 256))]


def measured() -> Case:
    return _case(8, BLOCK, seed=8)


MEASURES = {
    "shared requests per row": lambda profile: (
        outside_registers("shared_requests")(profile) / math.prod(profile.counters.grid)
    ),
    "barriers per warp": per_warp("synchronisations"),
}
