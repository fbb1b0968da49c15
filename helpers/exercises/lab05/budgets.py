"""Budgets of the lab, and what of the sanitizer's hints is wrong in all of it."""

from __future__ import annotations

import math

from helpers.checking.exercise import Budget, cover
from helpers.checking.measures import outside_registers, per_block, per_warp, stored_for_needed, total

BLOCK = 256


def _barriers_a_round(profile) -> float:
    """Barriers of a warp for each 256 elements; from what was read, how many they are is known to a sector."""
    rounds = cover(profile.needed.read_bytes, 4 * BLOCK)
    return profile["synchronisations"] / profile.counters.warps / max(1, rounds)


COALESCED_STORES = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    2.2,
    "Threads of a warp that keep something store to neighbouring places: one request, a few sectors.",
    "global_store_sectors",
)
STORES_A_WARP = Budget(
    "shared stores per warp",
    lambda profile: outside_registers("shared_write_requests")(profile) / profile.counters.warps,
    1.25,
    "Within a warp lanes add by shuffles, which take no shared memory. One number a warp is left to store.",
    "shared_store_requests",
)
ATOMICS_A_BLOCK = Budget(
    "global atomics per block",
    per_block("global_update_requests"),
    1,
    "Add up within the block first; then one thread of it adds to the result.",
    "global_atomic_requests",
)
NO_ATOMICS = Budget(
    "atomics",
    total("global_update_requests", "shared_atomic_requests"),
    0,
    "An atomic hands out places in the order in which threads come, and nothing fixes that order.",
    "shared_atomic_requests",
)
SHARED_A_ROW = Budget(
    "shared requests per row",
    lambda profile: outside_registers("shared_requests")(profile) / math.prod(profile.counters.grid),
    80,
    "Eight warps leave one number each. Nothing else needs to be in shared memory.",
    "shared_load_requests",
)
BARRIERS_A_WARP = Budget(
    "barriers per warp",
    per_warp("synchronisations"),
    2,
    "A scan of a warp by shuffles needs no barrier. One is enough to hand on what each warp found last.",
    "barriers",
)
BARRIERS_A_ROUND = Budget(
    "barriers per round of 256",
    _barriers_a_round,
    4,
    "A warp finds its places without a barrier; warps need one or two to hand on how many each has kept.",
    "barriers",
)
