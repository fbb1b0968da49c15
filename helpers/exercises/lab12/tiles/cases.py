from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, plural
from helpers.exercises.lab12.budgets import ROWS, WARP, loaded, shared_reads, vectors
from helpers.exercises.lab12.shared import HEAD, attended, given

THREADS = 256


def _case(rows: int, n: int, scale: float, seed: int = 1) -> Case:
    q, k, v = given((rows, HEAD), (n, HEAD), seed)
    arguments = (q, k, v, Out(attended(q, k, v, scale)), np.int32(rows), np.int32(n), np.float32(scale))
    queries = "1 query" if rows == 1 else f"{rows} queries"
    return Case(f"{queries}, {plural(n, 'key')}, times {scale:g}", arguments, (cover(rows, ROWS),), (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(33, 64)), 0.25), (int(dice.integers(33, 64)), int(dice.integers(2, 90)), 0.125)]
    whole = (ROWS * int(dice.integers(4, 6)), ROWS * int(dice.integers(2, 5)), 0.25)
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*size) for size in ((1, 1, 0.25), (3, 40, 0.125), (32, 32, 0.25), (33, 75, 0.25))]


def measured() -> Case:
    return _case(128, 96, 0.25)


def _loaded_for_tiles(profile: Cost) -> float:
    """Vectors loaded for each that the blocks need: its queries once, and for each block all keys and values."""
    blocks = profile.counters.grid[0]
    keys = (vectors(profile) - ROWS * blocks) / 2
    return loaded(profile) / (ROWS * blocks + 2 * keys * blocks)


def _reads_for_tiles(profile: Cost) -> float:
    """Wavefronts of shared reads for each 32 of the products of attention without a mask."""
    rows = ROWS * profile.counters.grid[0]
    keys = (vectors(profile) - rows) / 2
    return WARP * shared_reads(profile) / (2 * HEAD * rows * keys)


MEASURES = {
    "bytes loaded per byte of tiles": _loaded_for_tiles,
    "shared wavefronts per 32 products": _reads_for_tiles,
}
