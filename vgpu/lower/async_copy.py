"""Asynchronous copies in LLVM IR: each instruction is one call of the runtime (`runtime/async_copy.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.ir import Value
from vgpu.lower import memory, watch
from vgpu.ptx import Imm, Instruction, Not, Operand, Reg
from vgpu.runtime.overwrites import LOAD, STORE

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel


def _is_predicate(kernel: Kernel, operand: Operand) -> bool:
    return isinstance(operand, Not) or (isinstance(operand, Reg) and kernel.registers.get(operand.name) == "pred")


def copy(kernel: Kernel, instruction: Instruction) -> None:
    """`cp.async.ca` and `.cg`: 4, 8 or 16 bytes a lane, fewer read where a source size or a predicate says so."""
    target, source, size, *rest = instruction.operands
    if "L2::cache_hint" in instruction.modifiers:
        rest = rest[:-1]
    if not isinstance(size, Imm) or size.value not in (4, 8, 16):
        raise kernel.unsupported(f"an asynchronous copy of another size than 4, 8 or 16 bytes, `{instruction}`")
    nbytes = size.value
    takes: Value = kernel.ir.i32(nbytes)
    if rest and _is_predicate(kernel, rest[0]):
        takes = kernel.bits_value(rest[0], 1).select(0, takes)
    elif rest:
        takes = kernel.bits_value(rest[0], 32)
    mask = kernel.lanes_that_run(instruction)
    sites = [kernel.new_site(instruction, "copy", space, nbytes) for space in ("global", "shared", "global")]
    where = memory.address(kernel, source, 64).splat()
    offsets = memory.shared_offset(kernel, instruction, target).splat()
    check = f"wb_{'c' if kernel.count else 'p'}_copy_check"
    good = kernel.run_time(check, *sites, where, offsets, mask, kernel.ir.i32(nbytes), takes.splat(), result="i32")
    if kernel.watch:
        lanes = good.to("i64")
        if not rest:
            watch.access(kernel, instruction, source, "global", nbytes, LOAD, where, lanes, bounded=False)
        lanes, _ = watch.access(kernel, instruction, target, "shared", nbytes, STORE, offsets, lanes, pending=True)
        good = lanes.to("i32")
    kernel.run_time("wb_copy_issue", where, offsets, good, kernel.ir.i32(nbytes), takes.splat())


def commit(kernel: Kernel, instruction: Instruction) -> None:
    kernel.site(instruction, "queue")
    kernel.run_time("wb_copy_commit", kernel.lanes_that_run(instruction))


def wait(kernel: Kernel, instruction: Instruction) -> None:
    """`wait_group N` leaves the latest N groups; `wait_all` also closes the group that is open."""
    kernel.site(instruction, "queue")
    mask = kernel.lanes_that_run(instruction)
    if not instruction.operands:
        commit(kernel, instruction)
    pending = kernel.bits_value(instruction.operands[0], 32) if instruction.operands else kernel.ir.i32(0)
    kernel.run_time("wb_copy_wait", mask, pending)


def arrive(kernel: Kernel, instruction: Instruction) -> None:
    """`cp.async.mbarrier.arrive`: an mbarrier learns when the copies issued so far are complete."""
    site = kernel.new_site(instruction, "mbarrier", "shared", 8)
    offsets = memory.shared_offset(kernel, instruction, instruction.operands[0]).splat()
    noinc = kernel.ir.i32("noinc" in instruction.modifiers)
    kernel.run_time("wb_copy_arrive", site, offsets, kernel.lanes_that_run(instruction), noinc)


def policy(kernel: Kernel, instruction: Instruction) -> None:
    """`createpolicy`: caches are not modelled, so any number will do."""
    kernel.write(instruction.operands[0], kernel.ir.i64(0), kernel.guard(instruction.guard))


FORMS = {"commit_group": commit, "wait_group": wait, "wait_all": wait, "mbarrier": arrive}


def dispatch(kernel: Kernel, instruction: Instruction) -> None:
    """`cp.async` without bulk copies."""
    next((FORMS[word] for word in instruction.modifiers if word in FORMS), copy)(kernel, instruction)
