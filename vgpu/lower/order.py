"""Fences and memory orders in LLVM IR, for blocks that run on different threads of this machine.

The warps of a block share one thread, so `.cta` needs nothing. Between blocks the accesses themselves are calls that
the compiler neither moves nor drops; the fences here also bind the machine. On x86 only `fence.sc` costs anything.

Rules: NVIDIA "PTX ISA", memory consistency model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vgpu.lower import memory
from vgpu.ptx import Instruction

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel

    Handler = Callable[[Kernel, Instruction], None]

WIDE = {"gpu", "sys", "cluster", "gl"}


def fence(kernel: Kernel, instruction: Instruction) -> None:
    """`fence` and `membar`; what else is of this kind (hints, proxies, sleep) orders nothing here."""
    words = set(instruction.modifiers)
    if instruction.opcode not in ("fence", "membar") or not words & WIDE or "proxy" in words:
        return
    strong = instruction.opcode == "membar" or "sc" in words
    kernel.ir.line(f"fence {'seq_cst' if strong else 'acq_rel'}")


def ordered(handler: Handler) -> Handler:
    """An access after a release fence, before an acquire fence, as its modifiers say."""

    def access(kernel: Kernel, instruction: Instruction) -> None:
        words = set(instruction.modifiers)
        wide = bool(words & WIDE)
        if wide and words & {"release", "acq_rel"}:
            kernel.ir.line("fence release")
        handler(kernel, instruction)
        if wide and words & {"acquire", "acq_rel"}:
            kernel.ir.line("fence acquire")

    return access


HANDLERS = {"fence": fence} | {kind: ordered(memory.HANDLERS[kind]) for kind in ("load", "store", "atomic")}
