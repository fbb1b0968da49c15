"""Asynchronous copies in LLVM IR: each instruction is one call of the runtime (`runtime/async_copy.py`)."""

from __future__ import annotations

from vgpu.lower import memory, watch
from vgpu.ptx import Imm, Instruction, Not, Reg
from vgpu.runtime.emit import LANES, Value

V64, V32 = f"<{LANES} x i64>", f"<{LANES} x i32>"


def call(k, function: str, types: str, arguments: str, result: str = "void") -> str:
    """A call of the runtime, declared."""
    k.e.declarations.add(f"declare {result} @{function}({types})")
    return f"call {result} @{function}({arguments})"


def shared_offsets(k, instruction: Instruction, operand) -> Value:
    """Where in the block's shared memory each lane points (i32), by its space's offsets or a generic address."""
    e = k.e
    if any(word.split("::")[0] == "shared" for word in instruction.modifiers):
        return e.splat(memory.address(k, operand, 32))
    inside = e.bin("sub", memory.address(k, operand, 64), k.fixed["shared_base"])
    # What lies far outside must not come back into range when it is cut to 32 bits.
    far = e.icmp("ugt", inside, e.const("i64", 0x7FFFFFFF))
    return e.splat(e.resize(e.select(far, e.const("i64", 0x7FFFFFFF), inside), 32))


def _cached(instruction: Instruction) -> bool:
    return "L2::cache_hint" in instruction.modifiers


def _is_predicate(k, operand) -> bool:
    if isinstance(operand, Not):
        return True
    return isinstance(operand, Reg) and k.registers.get(operand.name) == "pred"


def copy(k, instruction: Instruction) -> None:
    """`cp.async.ca` and `.cg`: 4, 8 or 16 bytes a lane, fewer read where a source size or a predicate says so."""
    e = k.e
    target, source, size, *rest = instruction.operands
    if _cached(instruction):
        rest = rest[:-1]
    if not isinstance(size, Imm) or size.value not in (4, 8, 16):
        raise k.unsupported(f"an asynchronous copy of another size than 4, 8 or 16 bytes, `{instruction}`")
    nbytes = size.value
    takes = e.const("i32", nbytes)
    if rest and _is_predicate(k, rest[0]):
        takes = e.select(k.bits_value(rest[0], 1), e.const("i32", 0), takes)
    elif rest:
        takes = k.bits_value(rest[0], 32)
    mask = k.guarded_mask(k.guard(instruction.guard))
    sites = [
        k.site_pointer(k.site(instruction, kind, space, nbytes))
        for kind, space in (("copy", "global"), ("copy", "shared"), ("copy", "global"))
    ]
    where = e.splat(memory.address(k, source, 64))
    offsets = shared_offsets(k, instruction, target)
    takes = e.splat(takes)
    text = call(
        k, f"wb_{'c' if k.count else 'p'}_copy_check", f"ptr, ptr, ptr, ptr, {V64}, {V32}, i32, i32, {V32}",
        f"ptr %ctx, ptr {sites[0]}, ptr {sites[1]}, ptr {sites[2]}, {where.full} {where.text}, "
        f"{offsets.full} {offsets.text}, i32 {mask.text}, i32 {nbytes}, {takes.full} {takes.text}", "i32",
    )  # fmt: skip
    good = e.assign(text, "i32", False)
    if k.watch:
        lanes = e.resize(good, 64)
        if not rest:
            watch.access(k, instruction, source, "global", nbytes, memory.LOAD, where, lanes, bounded=False)
        lanes, _ = watch.access(k, instruction, target, "shared", nbytes, memory.STORE, offsets, lanes, pending=True)
        good = e.resize(lanes, 32)
    e.line(
        call(
            k, "wb_copy_issue", f"ptr, {V64}, {V32}, i32, i32, {V32}",
            f"ptr %ctx, {where.full} {where.text}, {offsets.full} {offsets.text}, i32 {good.text}, i32 {nbytes}, "
            f"{takes.full} {takes.text}",
        )
    )  # fmt: skip


def commit(k, instruction: Instruction) -> None:
    k.site(instruction, "queue")
    mask = k.guarded_mask(k.guard(instruction.guard))
    k.e.line(call(k, "wb_copy_commit", "ptr, i32", f"ptr %ctx, i32 {mask.text}"))


def wait(k, instruction: Instruction) -> None:
    """`wait_group N` leaves the latest N groups; `wait_all` also closes the group that is open."""
    k.site(instruction, "queue")
    mask = k.guarded_mask(k.guard(instruction.guard))
    pending = k.bits_value(instruction.operands[0], 32).text if instruction.operands else "0"
    if not instruction.operands:
        commit(k, instruction)
    k.e.line(call(k, "wb_copy_wait", "ptr, i32, i32", f"ptr %ctx, i32 {mask.text}, i32 {pending}"))


def arrive(k, instruction: Instruction) -> None:
    """`cp.async.mbarrier.arrive`: an mbarrier learns when the copies issued so far are complete."""
    site = k.site_pointer(k.site(instruction, "mbarrier", "shared", 8))
    offsets = shared_offsets(k, instruction, instruction.operands[0])
    mask = k.guarded_mask(k.guard(instruction.guard))
    noinc = int("noinc" in instruction.modifiers)
    arguments = f"ptr %ctx, ptr {site}, {V32} {offsets.text}, i32 {mask.text}, i32 {noinc}"
    k.e.line(call(k, "wb_copy_arrive", f"ptr, ptr, {V32}, i32, i32", arguments))


def policy(k, instruction: Instruction) -> None:
    """`createpolicy`: caches are not modelled, so any number will do."""
    k.write(instruction.operands[0], k.e.const("i64", 0), k.guard(instruction.guard))


FORMS = {"commit_group": commit, "wait_group": wait, "wait_all": wait, "mbarrier": arrive}


def dispatch(k, instruction: Instruction) -> None:
    """`cp.async` without bulk copies."""
    next((FORMS[word] for word in instruction.modifiers if word in FORMS), copy)(k, instruction)
