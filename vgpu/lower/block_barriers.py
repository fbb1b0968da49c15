"""What a barrier of the block does besides waiting, in LLVM IR: it reduces, counts threads, or lets a warp pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.base.context import ARRIVED, EXPECTED, GATHERED, NAMED, REDUCES, RESULTS
from vgpu.ir import LANES, Value
from vgpu.lower.warp import first_active
from vgpu.ptx import Imm, Instruction, Operand

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel
    from vgpu.lower.control import Control

MOST = 15  # the highest number of a barrier


def number_of(kernel: Control, instruction: Instruction, operand: Operand) -> Value:
    """Which of the block's 16 barriers is meant: a register may hold any number, and those above are an error."""
    number = first_active(kernel, kernel.bits_value(operand, 32))
    if not isinstance(operand, Imm):
        wrong = number.above(MOST).select(kernel.lanes_that_run(instruction), 0)
        kernel.fail_where(wrong, "bar_number", kernel.site(instruction, "warp"), number.to("i64").splat())
    return number & MOST


def _place(kernel: Control, offset: int, number: Value | None = None) -> Value:
    """A pointer into the block's barriers (see `context.GATHERED`), at `offset` and a barrier's number."""
    where = kernel.context("barriers") + offset
    return (where if number is None else where + (number.to("i64") << 3)).to("ptr")


def gather_predicate(kernel: Control, instruction: Instruction, number: Value) -> None:
    """Before waiting at bar.red: add this warp's lanes to the block's counts."""
    true = kernel.bits_value(instruction.operands[-1], 1).bits() & kernel.mask
    for offset, bits in ((GATHERED, true), (GATHERED + 128, kernel.mask & ~true)):
        kernel.ir.add_to(_place(kernel, offset, number), kernel.ir.many(bits).to("i64"))
    kernel.ir.store(_place(kernel, REDUCES), kernel.ir.i64(1), 8)


def barrier_result(kernel: Kernel, instruction: Instruction) -> None:
    number = number_of(kernel, instruction, instruction.operands[1])
    true, false = (kernel.ir.load(_place(kernel, offset, number), "i64", 8) for offset in (RESULTS, RESULTS + 128))
    results = {"popc": lambda: true.to("i32"), "and": lambda: false.eq(0), "or": lambda: true.ne(0)}
    kernel.write(instruction.operands[0], next(results[m] for m in instruction.modifiers if m in results)())


def expect(kernel: Control, number: Value, count: Operand) -> None:
    """A barrier with a count of threads: note for how many it waits."""
    kernel.ir.store(_place(kernel, EXPECTED, number), first_active(kernel, kernel.bits_value(count, 32)).to("i64"), 8)
    kernel.ir.store(_place(kernel, NAMED), kernel.ir.i64(1), 8)


def pass_barrier(kernel: Kernel, instruction: Instruction) -> None:
    """Barriers at which no lane waits for the block: bar.arrive counts the warp in.

    bar.warp.sync needs nothing more: its lanes have been brought together at the start of the basic block.
    """
    if "arrive" not in instruction.modifiers:
        return
    if "cluster" in instruction.modifiers:
        kernel.run_time("wb_cluster_arrive", kernel.lanes_that_run(instruction))
        return
    number = number_of(kernel, instruction, instruction.operands[0])
    expect(kernel, number, instruction.operands[1])
    # Where lanes may part, a warp comes in pieces.
    coming = kernel.lanes_that_run(instruction)
    came = kernel.ir.many(coming).to("i64") if kernel.fine else coming.eq(0).select(0, kernel.ir.i64(LANES))
    kernel.ir.add_to(_place(kernel, ARRIVED, number), came)


HANDLERS = {"result": barrier_result, "barrier": pass_barrier}
