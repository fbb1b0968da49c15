"""A budget of several exercises: lanes that wait."""

from __future__ import annotations

from functools import partial

from helpers.checking.exercise import Budget
from helpers.checking.measures import idle_lanes

IDLE_LANES = Budget(
    "idle lanes per instruction",
    partial(idle_lanes, most=300),
    6,
    "An instruction is issued for 32 lanes, however many of them stand at it.",
    "instructions",
)
"""Lanes of 32 that an instruction may leave out; `most` instructions count for each 32 results."""
