from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural
from helpers.checking.measures import loaded_for_needed, per_block, per_warp
from helpers.exercises.lab04.budgets import BLOCK

ROWS_A_BLOCK = 4  # of the case that is counted
SIZES = ((1, 1, 1), (3, 31, 1), (5, 97, 2), (7, 128, 3), (4, 501, 2))


def _case(rows: int, n: int, blocks: int = 2, seed: int = 0, lift: int = 0) -> Case:
    x = np.random.default_rng(seed or n).integers(-99, 100, (rows, n), np.int32)
    x += (lift + 300 * (np.arange(rows) % 3 - 1)).astype(np.int32)[:, None]
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}, {plural(blocks, 'block')}"
    return Case(name, (x, Out(x - x.min(axis=1, keepdims=True))), (blocks,), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(1, int(dice.integers(2, 128)), 1), (int(dice.integers(3, 9)), int(dice.integers(129, 400)), 2)]
    blocks = int(dice.integers(2, 4))
    sizes.append((ROWS_A_BLOCK * blocks, 8 * int(dice.integers(60, 90)), blocks))
    return [_case(*size, int(dice.integers(1, 10**6)), int(dice.integers(-500, 500))) for size in sizes]


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(ROWS_A_BLOCK * 2, 640, 2)


MEASURES = {
    "barriers of a warp per row": lambda profile: per_warp("synchronisations")(profile) / ROWS_A_BLOCK,
    "shared atomic wavefronts per row": lambda profile: (
        per_block("shared_atomic_wavefronts", "global_update_requests")(profile) / ROWS_A_BLOCK
    ),
    "bytes loaded per byte needed": loaded_for_needed,
}
