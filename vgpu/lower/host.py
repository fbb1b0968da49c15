"""Calls out of the kernel, in LLVM IR: printf, assert, and the heap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vgpu.lower import heap
from vgpu.ptx import Instruction

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel

PRINTF, ASSERT = 1, 2


def call(kernel: Kernel, instruction: Instruction) -> None:
    target = instruction.operands[0]
    name = target.target.name
    if name in heap.FUNCTIONS:
        heap.call(kernel, instruction)
        return
    code = {"vprintf": PRINTF, "__assertfail": ASSERT}.get(name)
    if code is None:
        raise kernel.unsupported(f"a call of `{name}`")
    given = heap.arguments(kernel, target, 2 if code == PRINTF else 4)
    site = kernel.site(replace(instruction, operands=()), "host")
    if code == PRINTF:
        heap.ask(kernel, instruction, PRINTF, site, given)
    else:
        kernel.run_time("wb_host", code | site << 8, kernel.lanes_that_run(instruction), *given)


HANDLERS = {"call": call}
