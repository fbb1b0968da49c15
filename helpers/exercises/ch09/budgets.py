"""Budgets on what the compiler makes of a kernel: registers for several GPUs, and what did not fit into them."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import total

ARCHITECTURES = ("T4", "A100", "H100")


def _worst(*what: str):
    """Numbers of the compiler's, each the largest of several architectures', in all."""
    return lambda profile: sum(
        max(getattr(profile.on(name).resources, each) for name in ARCHITECTURES) for each in what
    )


FEW_REGISTERS = (
    Budget(
        "registers a thread, at worst of T4, A100 and H100",
        _worst("registers"),
        48,
        "48 registers leave room for 40 warps on an A100.",
    ),
    Budget(
        "bytes of spills a thread",
        _worst("spill_store_bytes", "spill_load_bytes"),
        0,
        "A limit on registers does not make values fewer.",
    ),
    Budget(
        "requests to local memory",
        total("local_requests"),
        0,
        "An array whose index is not known to the compiler cannot stand in registers.",
        "local_load_requests",
    ),
)
