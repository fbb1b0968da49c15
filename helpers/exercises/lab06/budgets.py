"""Budgets of several exercises: lanes that wait, and instructions for as many results as a warp has lanes."""

from __future__ import annotations

from functools import partial

from helpers.checking.exercise import Budget
from helpers.checking.measures import idle_lanes, instructions_for_written


def idle(at_most: float, most: float) -> Budget:
    """Lanes of 32 that an instruction may leave out; `most` instructions count for each 32 results."""
    return Budget(
        "idle lanes per instruction",
        partial(idle_lanes, most=most),
        at_most,
        "An instruction is issued for 32 lanes, however many of them stand at it.",
        "instructions",
    )


def instructions(at_most: float, teach: str) -> Budget:
    """Instructions of warps for each 32 results."""
    return Budget("instructions per 32 results", instructions_for_written, at_most, teach, "instructions")
