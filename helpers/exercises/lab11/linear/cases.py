from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out

FRAGMENT, TILE, WARP = 16, 32, 32
TILE, SLICE, THREADS = 32, 64, 128
SHAPES = ((32, 64, 32), (64, 64, 32), (32, 192, 96))


def _case(m: int, k: int, n: int, seed: int = 0) -> Case:
    dice = np.random.default_rng(seed or m + k + n)
    x, w = (dice.integers(-127, 128, shape, dtype=np.int8) for shape in ((m, k), (n, k)))
    x[:, 0], w[:, 0] = 127, -127  # one product that a signed byte must hold on to
    sx, sw = (dice.integers(1, 64, size).astype(np.float32) / 1024 for size in (m, n))
    expected = (x.astype(np.int64) @ w.T.astype(np.int64)) * sx[:, None].astype(np.float64) * sw
    sizes = tuple(map(np.int32, (m, k, n)))
    arguments = (x, w, sx, sw, Out(expected.astype(np.float32)), *sizes)
    return Case(f"{m} × {k} inputs, {n} outputs", arguments, (n // TILE, m // TILE), (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(TILE * int(dice.integers(1, 4)), SLICE * int(dice.integers(1, 4)), TILE * int(dice.integers(1, 4)))]
    whole = (TILE * int(dice.integers(2, 4)), SLICE * int(dice.integers(4, 6)), TILE * int(dice.integers(2, 4)))
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(64, 256, 96)


def _loaded_for_tiles(profile: Cost) -> float:
    """Bytes of all sectors that requests loaded, for each byte of the rows and scales that the blocks need."""
    across, down = profile.counters.grid[:2]
    needed = max(32, profile.needed.read_bytes) * 2 * across * down / (across + down)
    return 32 * profile["global_read_sectors"] / needed


def _instructions_for_fragments(profile: Cost) -> float:
    """Instructions of warps for each 16 × 16 × 16 multiplications of codes; those of integers count once more."""
    across, down = profile.counters.grid[:2]
    inner = profile.needed.read_bytes / (TILE * (across + down)) - 4
    instructions = profile["instructions"] + profile["integer_products"] / WARP  # a dp4a multiplies four times
    return FRAGMENT**3 * instructions / (TILE * TILE * across * down * inner)


MEASURES = {
    "bytes loaded per byte of tiles": _loaded_for_tiles,
    "instructions per 16 x 16 x 16": _instructions_for_fragments,
}
