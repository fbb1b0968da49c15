"""What the exercises on reductions and scans are measured by."""

from __future__ import annotations

from collections.abc import Callable

from helpers.checking.examine import Cost
from vgpu.launch.shares import Shares

BLOCK, BLOCKS, WARP = 128, 4, 32


def a_row(key: str, parts: int = 1) -> Callable[[Cost], float]:
    """A counter for each block, which has a row."""
    return lambda profile: profile[key] / profile.counters.grid[0] / parts


def of_the_busiest_warp(shares: Shares) -> int:
    """Instructions of the warp that has most."""
    return int(shares.instructions.max())
