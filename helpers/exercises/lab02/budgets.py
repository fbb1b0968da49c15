"""Budgets of several exercises: each sector is asked for once."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import (
    load_requests_for_written,
    loaded_for_needed,
    loaded_for_written,
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
WIDE_REQUESTS = Budget(
    "load requests per 512 bytes",
    load_requests_for_written,
    2.1,
    "32 lanes load 512 bytes at once, 16 each; the token is the second request.",
    "global_load_requests",
)
LOADED_FOR_STORED = Budget(
    "bytes loaded per byte stored",
    loaded_for_written,
    1.3,
    "A row is loaded once for each token that names it, and the lanes of a request want neighbours.",
)
