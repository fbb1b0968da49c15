"""Budgets of kernels on narrow types: each byte once, by wide requests, and few instructions around a product."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import load_requests_for_needed, stored_for_needed

FRAGMENT, TILE, WARP = 16, 32, 32
WIDE = 512  # bytes of a request in which each of 32 lanes moves 16


def wide_loads(profile) -> float:
    """Load requests for each 512 bytes of the inputs: 16 bytes for each lane."""
    return WIDE / 128 * load_requests_for_needed(profile)


def _stores(profile) -> float:
    """Store requests for each 128 bytes of the results: a word for each lane."""
    return 128 * profile["global_write_requests"] / max(32, profile.needed.written_bytes)


def _loaded_for_tiles(profile) -> float:
    """Bytes of all sectors that requests loaded, for each byte of the rows and scales that the blocks need."""
    across, down = profile.counters.grid[:2]
    needed = max(32, profile.needed.read_bytes) * 2 * across * down / (across + down)
    return 32 * profile["global_read_sectors"] / needed


def _instructions_for_fragments(profile) -> float:
    """Instructions of warps for each 16 × 16 × 16 multiplications of codes; those of integers count once more."""
    across, down = profile.counters.grid[:2]
    inner = profile.needed.read_bytes / (TILE * (across + down)) - 4
    instructions = profile["instructions"] + profile["integer_products"] / WARP  # a dp4a multiplies four times
    return FRAGMENT**3 * instructions / (TILE * TILE * across * down * inner)


WIDE_LOADS = Budget(
    "load requests per 512 bytes",
    wide_loads,
    1.5,
    "A lane can load 16 bytes at a time, as a uint4 or float4, and so a warp 512.",
    "global_load_requests",
)
HALF_WIDE_LOADS = Budget(
    "load requests per 512 bytes",
    wide_loads,
    2.2,
    "A lane that loads four halves at a time, 8 bytes, needs two requests of its warp for 512 bytes.",
    "global_load_requests",
)
FEW_STORES = Budget(
    "store requests per 128 bytes",
    _stores,
    2.2,
    "A lane that has four codes of a byte stores them as one word of four.",
    "global_store_requests",
)
TILES_LOADED = Budget(
    "bytes loaded per byte of tiles",
    _loaded_for_tiles,
    1.35,
    "A block of 32 × 32 results needs 32 rows of either side, and each of them once. Scales may be loaded "
    "again for each result.",
)
INSTRUCTIONS = Budget(
    "instructions per 16 x 16 x 16",
    _instructions_for_fragments,
    100,
    "One mma_sync multiplies 4,096 pairs. Around it a lane can load 16 codes at a time.",
    "instructions",
)
STORED = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    1.1,
    "Every sector is stored to once if the lanes of a warp write neighbours: 16 bytes of each lane, side by side.",
    "global_store_sectors",
)
WIDE_STORES = Budget(
    "store requests per 512 bytes",
    lambda profile: WIDE / 128 * _stores(profile),
    1.2,
    "A float4 of each lane makes 512 bytes a request. The flag needs one request of a block, and not one of each warp "
    "that has met an overflow.",
    "global_store_requests",
)
