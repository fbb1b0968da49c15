"""Budgets of the lab: a row is loaded once, and what joins its parts stays on the chip."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import (
    loaded_for_needed,
    loaded_for_written,
    outside_registers,
    per_warp,
    special_functions,
)

WARP, BLOCK = 32, 256
ARITHMETIC = 18  # operations for an element: about ten of them are `expf`'s, of up to 1,024 elements a row of 832 has


def _exponentials_for_elements(profile) -> float:
    """Special functions of all threads for each element of the result, beside one `expf` and what goes with it."""
    elements = profile.needed.written_bytes / 4
    return special_functions(profile, ARITHMETIC * elements) / elements


ONCE = Budget(
    "bytes loaded per byte needed",
    loaded_for_needed,
    1.1,
    "A row of up to 1,024 elements fits into the registers of a warp, 32 for each lane. What is kept there need not be "
    "loaded again.",
)
TWICE = Budget(
    "bytes loaded per byte needed",
    loaded_for_needed,
    2.1,
    "One pass over the row for the sum, and one that stores: no third one.",
)
IN_REGISTERS = Budget(
    "requests to local memory",
    outside_registers("local_requests"),
    0,
    "An array stands in registers only where the compiler knows every index: unroll the loops over it, with a number "
    "of rounds that is known, and leave out what is beyond the row by an if.",
    "local_load_requests",
)
ONE_EXPONENTIAL = Budget(
    "special functions per element",
    _exponentials_for_elements,
    1.5,
    "Keep exp(…) where the element was: the sum and the result are made of the same value. A row is divided by "
    "multiplying with 1 / sum.",
    "special_functions",
)
THREE_ROWS = Budget(
    "bytes loaded per byte stored",
    loaded_for_written,
    3.9,
    "For each element of the result three are needed, each once. What several passes use is kept in shared memory.",
)
FOUR_BARRIERS = Budget(
    "barriers per warp",
    per_warp("synchronisations"),
    4,
    "A sum over a block needs one barrier after the warps have stored theirs. One more is needed before the same place "
    "is used for the next sum.",
    "barriers",
)
TWO_BARRIERS = Budget(
    "barriers per warp",
    per_warp("synchronisations"),
    2,
    "Neither sum needs the other, so both can go through shared memory together, in two places.",
    "barriers",
)
