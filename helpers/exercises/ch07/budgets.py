"""What the exercises on reductions and scans may cost: of each, a tuple of budgets."""

from __future__ import annotations

from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Budget
from helpers.checking.measures import busiest_warp

BLOCK, BLOCKS, WARP = 128, 4, 32


def _a_row(key: str, parts: int = 1):
    return lambda profile: profile[key] / profile.counters.grid[0] / parts


FIRST_MAX = (
    Budget(
        "instructions of the busiest warp",
        lambda shares: int(shares.instructions.max()),
        600,
        "The block is done when its last warp is. A tree of 8 steps takes a warp some 200 instructions.",
        "instructions",
        of="warps",
    ),
)

ROW_MAX = (
    Budget(
        "barriers of a warp, per row",
        _a_row("synchronisations", BLOCK // WARP),
        2,
        "The lanes of a warp need no barrier of the block: let them compare by shuffles, five of them.",
        "barriers",
    ),
    Budget(
        "shared requests per row",
        _a_row("shared_requests"),
        8,
        "Four warps leave four numbers: four stores and one load will do.",
        "shared_load_requests",
    ),
    Budget(
        "load requests for a row of 4,096",
        _a_row("global_load_requests"),
        4096 // WARP + 8,
        "A warp's request brings 32 elements, so that 4,096 take 128. Let all threads load, each 128 elements "
        "further on.",
        "global_load_requests",
    ),
    Budget(
        "sectors loaded for a row of 4,096",
        _a_row("global_load_sectors"),
        4096 // 8 + 32,
        "32 lanes that read 32 neighbours need 4 sectors.",
        "global_load_sectors",
    ),
    SHARED_OUT,
)

DOT = (
    Budget(
        "global atomic requests for 4 blocks",
        lambda profile: profile["global_update_requests"],
        BLOCKS,
        "Add up within the block first; then one thread of it adds to the result.",
        "global_atomic_requests",
    ),
    Budget(
        "load requests for 8,192 pairs",
        lambda profile: profile["global_read_requests"],
        2 * 8192 // WARP + 32,
        "A warp's request brings 32 elements, so that 8,192 of x and of y take 512.",
        "global_load_requests",
    ),
    Budget(
        "sectors loaded for 8,192 pairs",
        lambda profile: profile["global_read_sectors"],
        2 * 8192 // 8 + 64,
        "32 lanes that read 32 neighbours need 4 sectors.",
        "global_load_sectors",
    ),
    Budget(
        "busiest warp by average",
        busiest_warp,
        3,
        "A launch takes as long as its busiest warp, and the others wait for it.",
        "instructions",
        of="warps",
    ),
)

EXCLUSIVE = (
    Budget(
        "load requests for 1,024 elements",
        lambda profile: profile["global_read_requests"],
        64,
        "Each element is loaded once: what threads need of one another goes through shared memory or shuffles.",
        "global_load_requests",
    ),
    Budget(
        "instructions for 1,024 elements",
        lambda profile: profile["instructions"],
        16_000,
        "Ten steps that double the distance take 32 warps some 5,000 instructions.",
        "instructions",
    ),
    Budget(
        "instructions of the busiest warp",
        lambda shares: int(shares.instructions.max()),
        1500,
        "The block is done when its last warp is.",
        "instructions",
        of="warps",
    ),
)
