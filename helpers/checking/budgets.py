"""Budgets that several labs have."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from helpers.checking.exercise import Budget
from helpers.checking.measures import (
    busiest_for_needed,
    busiest_warp,
    conflicts_per_shared_request,
    loaded_for_needed,
    outside_registers,
)

SHARED_OUT = Budget(
    "busiest warp by average",
    busiest_warp,
    2,
    "A launch takes as long as its busiest warp: with 2, half of the others' time is spent waiting for it.",
    "instructions",
    of="warps",
)
LOADS_SHARED_OUT = replace(SHARED_OUT, measure=busiest_for_needed, of="launch")
"""The same, where warps mostly load and store: what they need for that is known, so others can't hide it."""
COALESCED = Budget(
    "bytes loaded per byte needed",
    loaded_for_needed,
    1.1,
    "Every sector comes once if the lanes of a warp read neighbours, and nobody reads them again.",
)


def no_conflicts(at_most: float, most: float, more: str = "") -> Budget:  # `more`: the end of the words
    """A limit on bank conflicts, where at most `most` requests count for each 128 bytes that the case needs."""
    return Budget(
        "bank conflicts per shared request",
        partial(conflicts_per_shared_request, most=most),
        at_most,
        "Lanes that use different words of one bank are served one after another. Look at the distance between the "
        f"words of neighbouring lanes{more}.",
        "shared_load_wavefronts",
    )


NO_SHARED = Budget(
    "shared requests",
    outside_registers("shared_requests", "global_update_requests"),
    0,
    "The lanes of one warp share a row, and reach one another's registers by shuffles.",
    "shared_load_requests",
)
