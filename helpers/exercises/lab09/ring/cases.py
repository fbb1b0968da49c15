from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, fractions
from helpers.checking.measures import waits_alone
from helpers.exercises.lab09.budgets import HALF, products

TILE, DEEP, THREADS = 64, 32, 128
SHAPES = ((64, 32, 64), (64, 64, 128), (128, 96, 64), (64, 160, 64), (64, 1024, 64))


def _case(m: int, k: int, n: int, *, seed: int = 0) -> Case:
    a = np.abs(fractions((m, k), seed or m + k)).astype(np.float16)
    b = np.abs(fractions((k, n), (seed or k + n) + 1)).astype(np.float16)
    sizes = tuple(map(np.int32, (m, k, n)))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    return Case(f"({m} × {k}) by ({k} × {n})", (a, b, Out(expected), *sizes), (n // TILE, m // TILE), (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    shapes = [(TILE * int(dice.integers(1, 3)), DEEP * int(dice.integers(1, 9)), TILE) for _ in range(2)]
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in shapes]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(128, 256, 128)


def _barriers_for_tiles(profile: Cost) -> float:
    """Barriers of a warp for each 32 steps of the inner dimension."""
    across, down = profile.counters.grid[:2]
    inner = products(profile, TILE, HALF) / (TILE * TILE * across * down)
    return profile["barriers"] / profile.counters.warps / (inner / DEEP)


MEASURES = {
    "waits of a warp with no other copy in flight": waits_alone,
    "barriers of a warp per pair of tiles": _barriers_for_tiles,
}
