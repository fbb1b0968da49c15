"""Which state space an access is in, which of the runtime's checks is for it, and what kind of access it is."""

from __future__ import annotations

from vgpu.ptx import Instruction

SPACES = ("global", "shared", "local", "const", "param")
CLUSTER = "shared::cluster"
KINDS = ("load", "store", "atomic")  # by the runtime's LOAD, STORE and ATOMIC


def space_of(instruction: Instruction) -> str:
    """The state space that the modifiers name, or "generic"; "cluster" for the shared memory of a cluster's blocks."""
    if CLUSTER in instruction.modifiers:
        return "cluster"
    words = [m.split("::")[0] for m in instruction.modifiers]
    return next((w for w in words if w in SPACES), "generic")


def window_of(space: str) -> str:
    """Which of the runtime's checks is for accesses to a space."""
    return space if space in ("shared", "local") else "global"
