"""Budgets of several exercises: each sector is asked for once."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import (
    loaded_for_needed,
    stored_for_needed,
)

COALESCED_LOADS = Budget(
    "bytes loaded per byte needed",
    loaded_for_needed,
    1.3,
    "A sector comes once if one request, or none, asks for it: let the lanes of a warp want neighbours.",
)
COALESCED_STORES = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    1.3,
    "Stores are counted like loads: a sector is stored to once if the lanes of one request fill it.",
    "global_store_sectors",
)
