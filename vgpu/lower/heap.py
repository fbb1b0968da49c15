"""Calls of `malloc` and `free`, which `new` and `delete` are made of: the host's books answer them (`host_calls`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vgpu.ir import Value
from vgpu.ir.value import V64
from vgpu.ptx import Call, Instruction

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel

MALLOC, FREE = 3, 4  # what the host is asked for; it knows printf and asserts by other numbers
# Name in the PTX -> what is asked for. The third is `new` of a type that asks for more than 16 bytes of alignment.
FUNCTIONS = {"malloc": MALLOC, "free": FREE, "__cuda_syscall_aligned_malloc": MALLOC}


def call(kernel: Kernel, instruction: Instruction) -> None:
    target: Call = instruction.operands[0]
    name = target.target.name
    given = arguments(kernel, target, 2)
    number = kernel.site(replace(instruction, operands=(), modifiers=(name,)), "heap")
    if kernel.watch and name == "free":
        kernel.watch.place(kernel, instruction, "free", "global", of=number)
    ask(kernel, instruction, FUNCTIONS[name], number, given)


def arguments(kernel: Kernel, target: Call, count: int) -> list[Value]:
    """Up to so many arguments of a call, each 64 bits a lane; 0 for those it doesn't have."""
    names = [f"{name}@0" for name in target.arguments[:count]]
    if any(name not in kernel.registers for name in names):
        raise kernel.unsupported(f"a call of `{target.target.name}` with an argument that was never stored")
    given = [kernel.read(name).to("i64").splat() for name in names]
    return given + [kernel.ir.i64(0).splat()] * (count - len(given))


def ask(kernel: Kernel, instruction: Instruction, code: int, site: int, given: list[Value]) -> None:
    """Call out with two arguments a lane, and take what the host answers to each."""
    guard = kernel.guard(instruction.guard)
    answer = kernel.run_time("wb_heap", code, site, kernel.guarded_mask(guard), *given, result=V64)
    for name in instruction.operands[0].returns:
        if (result := f"{name}@0") in kernel.registers:  # else it is never read
            kernel.write(result, answer, guard)
