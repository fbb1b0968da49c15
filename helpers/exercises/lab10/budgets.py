"""Budgets of the lab: a row is loaded once, and what joins its parts stays on the chip."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import (
    loaded_for_written,
)

WARP, BLOCK = 32, 256


THREE_ROWS = Budget(
    "bytes loaded per byte stored",
    loaded_for_written,
    3.9,
    "For each element of the result three are needed, each once. What several passes use is kept in shared memory.",
)
