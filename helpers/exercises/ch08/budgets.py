"""A budget of several exercises: no lane that stands idle."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import idle_lanes

IDLE_LANES = Budget(
    "idle lanes per instruction",
    idle_lanes,
    6,
    "An instruction is issued for 32 lanes, however many of them stand at it.",
    "instructions",
)
"""The lanes of 32 that do not take part, on average."""
