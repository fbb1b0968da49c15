from __future__ import annotations

from functools import partial

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, fractions
from helpers.checking.measures import conflicts_per_shared_request, multiplied
from helpers.exercises.lab09.budgets import FLOAT

TILE = 16
SHAPES = ((1, 1, 1), (2, 13, 5), (1, 16, 32), (3, 33, 20), (1, 50, 17))


def _case(heads: int, n: int, d: int, *, seed: int = 0) -> Case:
    q, k = fractions((heads, n, d), seed or n + d), fractions((heads, n, d), (seed or n + d) + 1)
    scores = np.where(np.tri(n, dtype=bool), q @ k.transpose(0, 2, 1), -np.inf).astype(np.float32)
    blocks = cover(n, TILE)
    return Case(f"{heads} × {n} tokens of {d}", (q, k, Out(scores)), (blocks, blocks, heads), (TILE, TILE))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [
        (1, int(dice.integers(2, 16)), int(dice.integers(2, 9))),
        tuple(map(int, dice.integers((2, 17, 3), (4, 60, 40)))),
    ]
    whole = (int(dice.integers(1, 3)), TILE * int(dice.integers(5, 8)), 16 * int(dice.integers(1, 4)))
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(2, 96, 32)


def _computed_for_causal(profile: Cost) -> float:
    """Multiplications for each that a triangle with its diagonal needs, in heads of whole tiles of 16."""
    across, _, heads = profile.counters.grid
    rows = 16 * across
    inner = profile.needed.read_bytes / (2 * FLOAT * rows * heads)
    elements = (_bytes_for_causal(profile) + profile.needed.written_bytes) / FLOAT
    return multiplied(profile, heads * rows * (rows + 1) / 2 * inner, elements)


def _loaded_for_causal(profile: Cost) -> float:
    """Bytes of sectors loaded, for each byte that the blocks on and below the diagonal need."""
    return 32 * profile["global_read_sectors"] / _bytes_for_causal(profile)


def _bytes_for_causal(profile: Cost) -> float:
    """Bytes of the rows that the blocks on and below the diagonal need."""
    return profile.needed.read_bytes * (profile.counters.grid[0] + 1) / 2


MEASURES = {
    "multiplications per one needed": _computed_for_causal,
    "bytes loaded per byte of tiles": _loaded_for_causal,
    "bank conflicts per shared request": partial(conflicts_per_shared_request, most=32),
}
