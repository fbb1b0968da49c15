"""Budgets of several exercises: each sector is moved once, and no two words of one request lie in one bank."""

from __future__ import annotations

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Budget
from helpers.checking.measures import loaded_for_needed, stored_for_needed

WARP = TILE = 32


def _of_the_blocks_rows(profile) -> float:
    """Bytes loaded for each byte of the 2 · 32 rows that a block needs, where the rows fill whole tiles."""
    return loaded_for_needed(profile) / (2 * profile.counters.grid[0])


def _loads_per_product(profile) -> float:
    """Shared loads of a thread for each product; there are as many products as rows × rows × columns."""
    elements = profile.needed.read_bytes / 4
    return WARP * profile["shared_read_requests"] / (elements * TILE * profile.counters.grid[0])


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
ROWS_LOADED = Budget(
    "bytes loaded per byte of 64 rows",
    _of_the_blocks_rows,
    1.1,
    "A block makes 32 × 32 products of rows and needs 32 rows for one side, 32 for the other: each once.",
)
LOADS_A_PRODUCT = Budget(
    "shared loads per product",
    _loads_per_product,
    1.1,
    "Two elements of one side and two of the other make four products: keep them in registers.",
    "shared_load_requests",
)
