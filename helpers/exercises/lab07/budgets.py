"""Budgets of several exercises: few registers, none of them spilled, and each sector loaded once."""

from __future__ import annotations

from collections.abc import Callable

from helpers.checking.examine import Cost
from helpers.checking.exercise import Budget
from helpers.checking.measures import loaded_for_needed

GPUS = ("A100", "H100")
"""Those on which 32 registers a thread let every place for a warp be taken."""


def _worst(*names: str) -> Callable[[Cost], int]:
    """The sum of compiler's numbers on the GPU where it is largest."""
    return lambda profile: max(sum(getattr(profile.on(gpu).resources, name) for name in names) for gpu in GPUS)


FEW_REGISTERS = Budget(
    "registers a thread",
    _worst("registers"),
    32,
    f"The worse of {' and '.join(GPUS)}: with 32 registers a thread all 64 warps fit on an SM.",
)
NO_SPILLS = Budget(
    "bytes of spills",
    _worst("spill_store_bytes", "spill_load_bytes"),
    0,
    "A limit on registers does not make values fewer.",
)
LOADED_ONCE = Budget(
    "bytes loaded per byte needed",
    loaded_for_needed,
    1.1,
    "Every sector comes once if the lanes of a warp read neighbours, and nobody reads them again.",
)
