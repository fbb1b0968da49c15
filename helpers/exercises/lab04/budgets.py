"""Budgets of the lab."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import per_block, per_warp

BLOCK, BLOCKS = 128, 4
ROWS_A_BLOCK = 4  # of the case that is counted


def beside_one_ticket(profile) -> float:
    """Too many atomics for each block, or none, as when one block does the work of all or a ticket is drawn by ++."""
    return abs(per_block("global_update_requests")(profile) - 1)


BARRIERS_A_ROW = Budget(
    "barriers of a warp per row",
    lambda profile: per_warp("synchronisations")(profile) / ROWS_A_BLOCK,
    3,
    "Set, compare, read, and on to the next row: three places where all must have arrived.",
    "barriers",
)
QUEUE_OF_A_ROW = Budget(
    "shared atomic wavefronts per row",
    lambda profile: per_block("shared_atomic_wavefronts", "global_update_requests")(profile) / ROWS_A_BLOCK,
    BLOCK,
    "All want the same word, so they queue. Let each thread find its own least first, and ask once.",
    "shared_atomic_wavefronts",
)
ATOMICS_A_BLOCK = Budget(
    "global atomics per block",
    per_block("global_update_requests"),
    8,
    "256 bins are eight requests of a warp. Count in shared memory, and add a block's bins once.",
    "global_atomic_requests",
)
QUEUE = Budget(
    "shared atomic wavefronts per 32 bytes",
    lambda profile: 32 * profile["shared_atomic_wavefronts"] / profile.needed.read_bytes,
    10,
    "Lanes that want the same word follow one another. Spread a bin over several words, or let lanes with the same "
    "value speak with one voice.",
    "shared_atomic_wavefronts",
)
BARRIERS_A_WARP = Budget(
    "barriers per warp",
    per_warp("synchronisations"),
    8,
    "Set, count, add, ticket, and what the last block needs: a handful, whatever the number of values.",
    "barriers",
)
