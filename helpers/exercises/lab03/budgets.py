"""Budgets of several exercises: each sector is moved once, and no two words of one request lie in one bank."""

from __future__ import annotations

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Budget
from helpers.checking.measures import loaded_for_needed, stored_for_needed

LOADED = "bytes loaded per byte needed"
COALESCED = Budget(
    LOADED,
    loaded_for_needed,
    1.1,
    "Every sector comes once if the lanes of a warp read neighbours in a row, and nobody reads them again.",
)
STORES = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    1.1,
    "Every sector is stored to once if the lanes of a warp write neighbours in a row.",
    "global_store_sectors",
)
ODD = ": an odd one meets all 32 banks"
NO_CONFLICTS = no_conflicts(0.05, most=2, more=ODD)
