from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, numbers
from helpers.checking.measures import outside_registers
from helpers.exercises.lab09.budgets import FLOAT, WARP, products

TILE, SIDE = 64, 16
SHAPES = ((1, 1, 1), (5, 70, 3), (64, 16, 64), (65, 17, 70), (100, 33, 20))


def _case(m: int, k: int, n: int, *, seed: int = 0) -> Case:
    a, b = numbers((m, k), seed=seed or m + k), numbers((k, n), seed=(seed or k + n) + 1)
    sizes = tuple(map(np.int32, (m, k, n)))
    return Case(
        f"({m} × {k}) by ({k} × {n})", (a, b, Out(a @ b), *sizes), (cover(n, TILE), cover(m, TILE)), (SIDE, SIDE)
    )


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 60)), 9), tuple(map(int, dice.integers(17, 130, 3)))]
    whole = (TILE * int(dice.integers(1, 4)), SIDE * int(dice.integers(2, 6)), TILE * int(dice.integers(2, 4)))
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(128, 64, 128)


def _reads_for_products(profile: Cost) -> float:
    """Wavefronts of reads from shared memory, for each multiplication of a warp's 32 lanes."""
    read = max(
        profile["shared_load_wavefronts"] + profile["shared_atomic_wavefronts"], profile["shared_read_requests"] / 4
    )
    return WARP * read / products(profile, 64, FLOAT)


MEASURES = {
    "shared wavefronts per product": _reads_for_products,
    "requests to local memory": outside_registers("local_requests"),
}
