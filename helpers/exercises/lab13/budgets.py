"""Budgets of several exercises: one owner of each sum, stored once."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import outside_registers, stored_again, total

NO_ATOMICS = Budget(
    "atomics",
    total("global_update_requests", "shared_atomic_requests"),
    0,
    "Let one thread, or one block, own each sum: nobody else adds to it, and its order never changes.",
    "global_atomic_requests",
)
STORED_ONCE = Budget(
    "bytes stored per byte needed",
    stored_again,
    1.05,
    "Add up in a register, and store once.",
    "global_store_sectors",
)
SHARED_A_WARP = Budget(
    "shared requests per warp",
    lambda profile: outside_registers("shared_requests")(profile) / profile.counters.warps,
    5,
    "Within a warp lanes add by shuffles. One number a warp is left to store, and four to add.",
    "shared_load_requests",
)
