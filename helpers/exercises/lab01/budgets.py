"""Budgets of several exercises: lanes that take part, and accesses of the first warp."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from helpers.checking.exercise import Budget
from helpers.checking.measures import idle_lanes
from vgpu.tools.steps.dependencies import Chain

IDLE_LANES = Budget(
    "idle lanes per instruction",
    partial(idle_lanes, most=64),
    6,
    "A warp issues each instruction for 32 lanes, however many of them have something to do.",
    "instructions",
)


def of_the_warp(op: str) -> Callable[[Chain], float]:
    """Its loads, or stores, of global memory, with atomics; a warp that has none leaves its share to others."""

    def measure(warp: Chain) -> float:
        return sum(link.op in (op, "atomic") and link.space == "global" for link in warp.links) or math.inf

    return measure
