from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural
from helpers.checking.measures import loaded_for_needed
from helpers.exercises.lab04.budgets import (
    BLOCK,
    beside_one_ticket,
)

SIZES = ((1, 1), (97, 1), (97, 3), (200, 2), (1000, 3), (1021, 5))


def _case(n: int, blocks: int, seed: int = 0) -> Case:
    x = np.random.default_rng(seed or n).integers(1, 10, n, np.int32)
    owner = np.arange(n) // BLOCK % blocks
    wanted = (np.bincount(owner, weights=x, minlength=blocks) / x.sum()).astype(np.float32)
    arguments = (x, np.zeros(blocks, np.int32), np.zeros(1, np.int32), Out(wanted), np.int32(n))
    return Case(f"{plural(n, 'element')}, {plural(blocks, 'block')}", arguments, (blocks,), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(int(dice.integers(2, 128)), 1), (int(dice.integers(2, 128)), int(dice.integers(2, 5)))]
    sizes.append((int(dice.integers(300, 900)), int(dice.integers(2, 4))))
    sizes.append((int(dice.integers(7000, 9000)), int(dice.integers(4, 9))))
    return [_case(*size, int(dice.integers(1, 10**6))) for size in sizes]


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(8000, 6)


MEASURES = {
    "global atomics per block, more or fewer than one": beside_one_ticket,
    "bytes loaded per byte needed": loaded_for_needed,
}
