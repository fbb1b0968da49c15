"""Budgets of several exercises: one owner of each sum, stored once."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import total

NO_ATOMICS = Budget(
    "atomics",
    total("global_update_requests", "shared_atomic_requests"),
    0,
    "Let one thread, or one block, own each sum. No other thread adds to it, and its order never changes.",
    "global_atomic_requests",
)
