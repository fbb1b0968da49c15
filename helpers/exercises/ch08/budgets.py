"""Budgets of several exercises: few instructions, and no lane that stands idle beside them."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import idle_lanes, total


def at_most_instructions(what: str, at_most: float, teach: str) -> Budget:
    """The warp instructions of a launch."""
    return Budget(f"warp instructions for {what}", total("instructions"), at_most, teach, "instructions")


def at_most_idle(at_most: float) -> Budget:
    """The lanes of 32 that do not take part, on average."""
    return Budget(
        "idle lanes per instruction",
        idle_lanes,
        at_most,
        "An instruction is issued for 32 lanes, however many of them stand at it.",
        "instructions",
    )
