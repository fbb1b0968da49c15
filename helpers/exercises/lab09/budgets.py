"""Budgets of products: what a block has to load once, how often a patch asks for its factors, and who multiplies.

They divide by what the case needs, so useless work never makes a ratio smaller. Launches are measured where whole tiles
cover the result.
"""

from __future__ import annotations

from helpers.checking.budgets import no_conflicts
from helpers.checking.examine import Cost
from helpers.checking.exercise import Budget
from helpers.checking.measures import (
    stored_for_needed,
)

WARP, FRAGMENT, FLOAT, HALF = 32, 16, 4, 2


def loaded_for_tiles(profile: Cost) -> float:
    """Bytes of all sectors that requests loaded, for each byte of the rows and columns that the blocks need."""
    return 32 * profile["global_read_sectors"] / bytes_for_tiles(profile)


def bytes_for_tiles(profile: Cost) -> float:
    """Bytes of the rows and columns that the blocks need."""
    across, down = profile.counters.grid[:2]
    return profile.needed.read_bytes * 2 * across * down / (across + down)


def products(profile: Cost, tile: int, size: int) -> float:
    """The multiplications of a matrix product with square tiles of results, whose factors have `size` bytes."""
    across, down = profile.counters.grid[:2]
    inner = profile.needed.read_bytes / (size * tile * (across + down))
    return tile * tile * across * down * inner


LOADED = Budget(
    "bytes loaded per byte of tiles",
    loaded_for_tiles,
    1.1,
    "A block of results needs so many rows or columns of either side: each of them once.",
)
STORES = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    1.1,
    "Every sector is stored to once if the lanes of a warp write neighbours in a row.",
    "global_store_sectors",
)
NO_CONFLICTS = no_conflicts(0.1, most=48)
