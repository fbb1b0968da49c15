"""Budgets that several labs have."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import busiest_warp, conflicts_per_shared_request, loaded_for_needed, outside_registers

SHARED_OUT = Budget(
    "busiest warp by average",
    busiest_warp,
    2,
    "A launch takes as long as its busiest warp: with 2, half of the others' time is spent waiting for it.",
    "instructions",
    of="warps",
)
COALESCED = Budget(
    "bytes loaded per byte needed",
    loaded_for_needed,
    1.1,
    "Every sector comes once if the lanes of a warp read neighbours, and nobody reads them again.",
)
NO_CONFLICTS = Budget(
    "bank conflicts per shared request",
    conflicts_per_shared_request,
    0.25,
    "Lanes that use different words of one bank are served one after another. Look at the distance between the words "
    "of neighbouring lanes.",
    "shared_load_wavefronts",
)
NO_SHARED = Budget(
    "shared requests",
    outside_registers("shared_requests", "global_update_requests"),
    0,
    "The lanes of one warp share a row, and reach one another's registers by shuffles.",
    "shared_load_requests",
)
