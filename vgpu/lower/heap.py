"""Calls of `malloc` and `free`, which `new` and `delete` are made of: the host's books answer them (`host_calls`)."""

from __future__ import annotations

from dataclasses import replace

from vgpu.ptx import Instruction
from vgpu.runtime.emit import LANES

MALLOC, FREE = 3, 4  # what the host is asked for; it knows printf and asserts by other numbers
# Name in the PTX -> what is asked for. The third is `new` of a type that asks for more than 16 bytes of alignment.
FUNCTIONS = {"malloc": MALLOC, "free": FREE, "__cuda_syscall_aligned_malloc": MALLOC}


def call(k, instruction: Instruction) -> None:
    target = instruction.operands[0]
    name = target.target.name
    if any(f"{a}@0" not in k.registers for a in target.arguments):
        raise k.unsupported(f"a call of `{name}` with an argument that was never stored")
    number = k.site(replace(instruction, operands=(), modifiers=(name,)), "heap")
    if k.watch and name == "free":
        k.watch.place(k, instruction, "free", "global", of=number)
    ask(k, instruction, FUNCTIONS[name], number)


def ask(k, instruction: Instruction, code: int, site: int) -> None:
    """Call out with up to two arguments a lane, and take what the host answers to each."""
    e, target = k.e, instruction.operands[0]
    arguments = [e.splat(e.resize(k.read(f"{a}@0"), 64)) for a in target.arguments[:2]]
    arguments += [e.splat(e.const("i64", 0))] * (2 - len(arguments))
    guard = k.guard(instruction.guard)
    mask = k.guarded_mask(guard)
    v = f"<{LANES} x i64>"
    e.declarations.add(f"declare {v} @wb_heap(ptr, i64, i64, i32, {v}, {v})")
    given = ", ".join(f"{a.full} {a.text}" for a in arguments)
    answer = e.assign(f"call {v} @wb_heap(ptr %ctx, i64 {code}, i64 {site}, i32 {mask.text}, {given})", "i64", True)
    for result in (f"{name}@0" for name in target.returns):
        if result in k.registers:  # else nobody reads it
            k.write(result, e.resize(answer, k.bits(result)), guard)
