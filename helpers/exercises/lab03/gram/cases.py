from __future__ import annotations

from functools import partial

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import conflicts_per_shared_request, loaded_for_needed

WARP = TILE = 32
TILE, SIDE = 32, 16
SHAPES = ((1, 1), (1, 13), (13, 1), (31, 17), (32, 16), (37, 33))


def _case(n: int, k: int, *, seed: int = 0) -> Case:
    a = numbers((n, k), seed=seed or n + k)
    blocks = cover(n, TILE)
    return Case(f"{plural(n, 'row')} of {plural(k, 'element')}", (a, Out(a @ a.T)), (blocks, blocks), (SIDE, SIDE))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 40))), (int(dice.integers(2, 60)), 1), tuple(map(int, dice.integers(17, 50, 2)))]
    shapes = [*odd, (TILE * int(dice.integers(2, 4)), TILE * int(dice.integers(1, 4)))]
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in shapes]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(96, 64)


def _of_the_blocks_rows(profile: Cost) -> float:
    """Bytes loaded for each byte of the 2 · 32 rows that a block needs, where the rows fill whole tiles."""
    return loaded_for_needed(profile) / (2 * profile.counters.grid[0])


def _loads_per_product(profile: Cost) -> float:
    """Shared loads of a thread for each product; there are as many products as rows × rows × columns."""
    elements = profile.needed.read_bytes / 4
    return WARP * profile["shared_read_requests"] / (elements * TILE * profile.counters.grid[0])


MEASURES = {
    "bytes loaded per byte of 64 rows": _of_the_blocks_rows,
    "shared loads per product": _loads_per_product,
    "bank conflicts per shared request": partial(conflicts_per_shared_request, most=48),
}
