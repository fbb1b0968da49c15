"""Cases and budgets of the exercises on reductions and scans."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Out, numbers, plural
from helpers.checking.measures import busiest_warp

BLOCK = 128
BLOCKS = 4
WARP = 32


SHARED_OUT = Budget(
    "busiest warp by average",
    busiest_warp,
    3,
    "A launch takes as long as its busiest warp, and the others wait for it.",
    "instructions",
    of="warps",
)
# -- the greatest of each row


def rows_case(rows: int, n: int, *, below_zero: bool = False) -> Case:
    x = numbers((rows, n), seed=n)
    x = -np.abs(x) - 1 if below_zero else x
    at = np.random.default_rng(n + 1).integers(0, n, rows)  # where the greatest of each row stands, each another
    at[0] = n - 1
    greatest = 9 + np.arange(rows)
    x[np.arange(rows), at] = -1 / greatest if below_zero else greatest
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}" + (", all below zero" if below_zero else "")
    return Case(name, (x, Out(x.max(axis=1)), np.int32(n)), (rows,), (BLOCK,))


def rows_cases() -> list[Case]:
    return [
        rows_case(1, 1, below_zero=True),
        rows_case(3, 31),
        rows_case(5, 97, below_zero=True),
        rows_case(2, 128),
        rows_case(4, 1021),
    ]


def _a_row(key: str):
    return lambda profile: profile[key] / profile.counters.grid[0]


BARRIERS = Budget(
    "barriers of a warp, per row",
    lambda profile: profile["synchronisations"] / profile.counters.grid[0] / (BLOCK // WARP),
    2,
    "The lanes of a warp need no barrier of the block: let them compare by shuffles, five of them.",
    "barriers",
)
SHARED = Budget(
    "shared requests per row",
    _a_row("shared_requests"),
    8,
    "Four warps leave four numbers: four stores and one load will do.",
    "shared_load_requests",
)
SECTORS = Budget(
    "sectors loaded for a row of 4,096",
    _a_row("global_load_sectors"),
    4096 // 8 + 32,
    "32 lanes that read 32 neighbours need 4 sectors.",
    "global_load_sectors",
)
LOADS = Budget(
    "load requests for a row of 4,096",
    _a_row("global_load_requests"),
    4096 // WARP + 8,
    "A warp's request brings 32 elements, so that 4,096 take 128. Let all threads load, each 128 elements further on.",
    "global_load_requests",
)


# -- the dot product


def dot_case(n: int) -> Case:
    x, y = numbers(n, seed=n), numbers(n, seed=n + 1)
    wanted = np.array([np.dot(x.astype(np.float64), y)], np.float32)
    return Case(plural(n, "element"), (x, y, Out(wanted, initial=np.zeros(1, np.float32))), (BLOCKS,), (BLOCK,))


ATOMICS = Budget(
    "global atomic requests for 4 blocks",
    lambda profile: profile["global_update_requests"],
    BLOCKS,
    "Add up within the block first; then one thread of it adds to the result.",
    "global_atomic_requests",
)


DOT_LOADS = Budget(
    "load requests for 8,192 pairs",
    lambda profile: profile["global_read_requests"],
    2 * 8192 // WARP + 32,
    "A warp's request brings 32 elements, so that 8,192 of x and of y take 512.",
    "global_load_requests",
)
DOT_SECTORS = Budget(
    "sectors loaded for 8,192 pairs",
    lambda profile: profile["global_read_sectors"],
    2 * 8192 // 8 + 64,
    "32 lanes that read 32 neighbours need 4 sectors.",
    "global_load_sectors",
)


# -- an exclusive scan


def scan_case(n: int) -> Case:
    x = 2 * np.random.default_rng(n).integers(-9, 10, n, np.int32)  # even: no sum looks like the bytes 0xFF
    wanted = np.concatenate([[0], np.cumsum(x)[:-1]]).astype(np.int32)
    return Case(plural(n, "element"), (x, Out(wanted)), (1,), (n,))


STEPS = Budget(
    "instructions for 1,024 elements",
    lambda profile: profile["instructions"],
    16_000,
    "Ten steps that double the distance take 32 warps some 5,000 instructions.",
    "instructions",
)
LONGEST = Budget(
    "instructions of the busiest warp",
    lambda shares: int(shares.instructions.max()),
    1500,
    "The block is done when its last warp is.",
    "instructions",
    of="warps",
)
SCAN_LOADS = Budget(
    "load requests for 1,024 elements",
    lambda profile: profile["global_read_requests"],
    64,
    "Each element is loaded once: what threads need of one another goes through shared memory or shuffles.",
    "global_load_requests",
)
