"""Budgets of several exercises: each byte is moved once, in float32, and a sum has one owner."""

from __future__ import annotations

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Budget
from helpers.checking.measures import loaded_for_needed, stored_for_needed

STORED = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    1.1,
    "Every sector is stored to once if the lanes of a warp have neighbouring units of one sequence.",
    "global_store_sectors",
)
LOADED = Budget(
    "bytes loaded per byte needed",
    loaded_for_needed,
    1.1,
    "Lanes of a warp take neighbouring units, and whatever is the same for all sequences of a thread is loaded once.",
)
NO_CONFLICTS = no_conflicts(0.25, most=32)
