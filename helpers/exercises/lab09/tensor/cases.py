from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover, fractions
from helpers.checking.measures import multiplied_floats, multiplied_integers
from helpers.exercises.lab09.budgets import FLOAT, FRAGMENT, HALF, WARP, bytes_for_tiles, products

TILE, THREADS = 32, 128
SHAPES = ((1, 1, 1), (16, 16, 16), (13, 37, 5), (32, 64, 32), (50, 70, 35))


def _case(m: int, k: int, n: int, *, seed: int = 0) -> Case:
    a = np.abs(fractions((m, k), seed or m + k)).astype(np.float16)  # sums that half could not hold to the unit
    b = fractions((k, n), (seed or k + n) + 1).astype(np.float16)
    b[:, ::2] = np.abs(b[:, ::2])
    sizes = tuple(map(np.int32, (m, k, n)))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    return Case(
        f"({m} × {k}) by ({k} × {n})", (a, b, Out(expected), *sizes), (cover(n, TILE), cover(m, TILE)), (THREADS,)
    )


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(200, 300)), 9), tuple(map(int, dice.integers(17, 90, 3)))]
    whole = (TILE * int(dice.integers(2, 4)), 16 * int(dice.integers(6, 10)), TILE * int(dice.integers(2, 4)))
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(64, 96, 64)


def _ordinary_for_products(profile: Cost) -> float:
    """Multiplications that ordinary cores make, of floats or integers, for each that the product has."""
    elements = bytes_for_tiles(profile) / HALF + profile.needed.written_bytes / FLOAT
    return (multiplied_floats(profile) + multiplied_integers(profile, elements)) / products(profile, 32, HALF)


def _instructions_for_fragments(profile: Cost) -> float:
    """Instructions of warps for each 16 × 16 × 16 multiplications; those of integers count once more."""
    instructions = profile["instructions"] + profile["integer_products"] / WARP
    return FRAGMENT**3 * instructions / products(profile, 32, HALF)


MEASURES = {
    "multiplications on ordinary cores": _ordinary_for_products,
    "instructions per 16 x 16 x 16": _instructions_for_fragments,
}
