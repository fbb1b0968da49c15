from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover

COLUMNS, ROUNDS, BLOCK, LARGE = 16, 40, 256, 1024


def _settled(x: np.ndarray) -> np.ndarray:
    """`x` with the continued fraction of `ROUNDS` steps in every other row."""
    out, value = x.copy(), x[::2]
    r = value.copy()
    for _ in range(ROUNDS):
        r = value / (value + r)
    out[::2] = r
    return out


def _case(rows: int) -> Case:
    x = np.random.default_rng(rows).uniform(0.5, 4, (rows, COLUMNS)).astype(np.float32)
    grid = cover(rows * COLUMNS, BLOCK)
    return Case(f"{rows:,} rows", (x, Out(_settled(x))), (grid,), (BLOCK,))


def cases() -> list[Case]:
    return [_case(rows) for rows in (1, 2, 3, 7, 16, 61, 128)]


def measured() -> Case:
    return _case(LARGE)


MEASURES = {
    "sectors loaded and stored for 16,384 floats": lambda p: p["global_load_sectors"] + p["global_store_sectors"],
    "idle lanes per instruction": lambda p: 32 - p["lanes_per_instruction"],
    "warp instructions": lambda p: p["instructions"],
}
