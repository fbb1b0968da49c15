"""Budgets of kernels on narrow types: each byte once, by wide requests, and few instructions around a product."""

from __future__ import annotations

from helpers.checking.examine import Cost
from helpers.checking.exercise import Budget
from helpers.checking.measures import load_requests_for_needed, stored_for_needed

WIDE = 512  # bytes of a request in which each of 32 lanes moves 16


def wide_loads(profile: Cost) -> float:
    """Load requests for each 512 bytes of the inputs: 16 bytes for each lane."""
    return WIDE / 128 * load_requests_for_needed(profile)


def stores(profile: Cost) -> float:
    """Store requests for each 128 bytes of the results: a word for each lane."""
    return 128 * profile["global_write_requests"] / max(32, profile.needed.written_bytes)


WIDE_LOADS = Budget(
    "load requests per 512 bytes",
    wide_loads,
    1.5,
    "A lane can load 16 bytes at a time, as a uint4 or float4, and so a warp 512.",
    "global_load_requests",
)
STORED = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    1.1,
    "Every sector is stored to once if the lanes of a warp write neighbours: 16 bytes of each lane, side by side.",
    "global_store_sectors",
)
