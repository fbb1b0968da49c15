from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import outside_registers

KEPT, THREADS = 8, 128


def _case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows + columns)
    held = np.full((KEPT, columns), -np.inf, np.float32)
    what = f"{plural(rows, 'row')} of {plural(columns, 'column')}"
    greatest = -np.sort(-np.vstack([x, held]), axis=0)[:KEPT]
    return Case(what, (x, Out(greatest)), (cover(columns, THREADS),), (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (int(dice.integers(2, 8)), int(dice.integers(2, 31))),
        (int(dice.integers(9, 40)), int(dice.integers(129, 256))),
        (int(dice.integers(90, 130)), 8 * int(dice.integers(28, 33))),
    ]
    return [_case(*size, int(dice.integers(1, 10**6))) for size in sizes]


def cases() -> list[Case]:
    return [_case(*size) for size in ((1, 1), (5, 31), (8, 97), (13, 128), (40, 131))]


def measured() -> Case:
    return _case(100, 256)


MEASURES = {
    "requests to local and shared memory": outside_registers("local_requests", "shared_requests"),
}
