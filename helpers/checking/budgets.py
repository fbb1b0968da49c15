"""Budgets that several labs have."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import busiest_warp

SHARED_OUT = Budget(
    "busiest warp by average",
    busiest_warp,
    2,
    "A launch takes as long as its busiest warp: with 2, half of the others' time is spent waiting for it.",
    "instructions",
    of="warps",
)
