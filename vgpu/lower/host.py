"""Calls out of the kernel, in LLVM IR: printf, assert, and the heap."""

from __future__ import annotations

from dataclasses import replace

from vgpu.lower import heap
from vgpu.ptx import Instruction
from vgpu.runtime.emit import LANES

PRINTF, ASSERT = 1, 2


def call(k, instruction: Instruction) -> None:
    e = k.e
    target = instruction.operands[0]
    name = target.target.name
    if name in heap.FUNCTIONS:
        heap.call(k, instruction)
        return
    code = {"vprintf": PRINTF, "__assertfail": ASSERT}.get(name)
    if code is None:
        raise k.unsupported(f"a call of `{name}`")
    if any(f"{a}@0" not in k.registers for a in target.arguments[:4]):
        raise k.unsupported(f"a call of `{name}` with an argument that was never stored")
    k.site(replace(instruction, operands=()), "host")
    if code == PRINTF:
        heap.ask(k, instruction, PRINTF, len(k.sites) - 1)
        return
    arguments = [e.splat(e.resize(k.read(f"{a}@0"), 64)) for a in target.arguments[:4]]
    while len(arguments) < 4:
        arguments.append(e.splat(e.const("i64", 0)))
    mask = k.guarded_mask(k.guard(instruction.guard))
    v = f"<{LANES} x i64>"
    e.declarations.add(f"declare void @wb_host(ptr, i64, i32, {v}, {v}, {v}, {v})")
    text = ", ".join(f"{a.full} {a.text}" for a in arguments)
    site = len(k.sites) - 1
    e.line(f"call void @wb_host(ptr %ctx, i64 {code | site << 8}, i32 {mask.text}, {text})")


HANDLERS = {"call": call}
