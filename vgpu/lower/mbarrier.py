"""`mbarrier` in LLVM IR: calls of the runtime (`runtime/mbarrier.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.base.context import DROP, NO_COMPLETE
from vgpu.ir import Value
from vgpu.ir.value import V64
from vgpu.lower import memory, watch
from vgpu.ptx import Instruction, Mem

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel

# For the sanitizer: who arrives passes on what it knows; who waited with success learns of it.
ARRIVES = {"arrive", "arrive_drop", "complete_tx"}
RELEASES, ACQUIRES = 6, 1


def _call(
    kernel: Kernel, function: str, instruction: Instruction, barrier: Mem, *more: Value, result: str = "void"
) -> Value:
    """Call the runtime with the site, where the barriers lie and which lanes take part, and with what is given."""
    site = kernel.new_site(instruction, "mbarrier", "shared", 8)
    offsets = memory.shared_offset(kernel, instruction, barrier).splat()
    mask = kernel.lanes_that_run(instruction)
    if kernel.watch and instruction.modifiers[0] in ARRIVES:
        _watched(kernel, instruction, RELEASES, offsets, mask)
    return kernel.run_time(function, site, offsets, mask, *more, result=result)


def _watched(kernel: Kernel, instruction: Instruction, order: int, offsets: Value, lanes: Value) -> None:
    place = kernel.watching.place(kernel, instruction, "mbarrier", "shared")
    watch.passes(kernel, place, order, offsets, lanes, shared=True)


def init(kernel: Kernel, instruction: Instruction) -> None:
    barrier, count = instruction.operands
    _call(kernel, "wb_barrier_init", instruction, barrier, kernel.lanes_value(count, 32))


def invalidate(kernel: Kernel, instruction: Instruction) -> None:
    _call(kernel, "wb_barrier_inval", instruction, instruction.operands[0])


def _update(
    kernel: Kernel, instruction: Instruction, barrier: Mem, arrivals: Value, nbytes: Value, flags: int = 0
) -> Value:
    given = (arrivals.splat(), nbytes.splat(), kernel.ir.i32(flags))
    return _call(kernel, "wb_barrier_update", instruction, barrier, *given, result=V64)


def arrive(kernel: Kernel, instruction: Instruction) -> None:
    """`arrive` and `arrive_drop`: by 1 or a count, or by 1 with bytes to expect."""
    words = instruction.modifiers
    destination, barrier, *rest = instruction.operands
    one, none = kernel.ir.i32(1), kernel.ir.i32(0)
    amount = kernel.bits_value(rest[0], 32) if rest else one
    flags = (DROP if words[0] == "arrive_drop" else 0) | (NO_COMPLETE if "noComplete" in words else 0)
    arrivals, nbytes = (one, amount) if "expect_tx" in words else (amount, none)
    state = _update(kernel, instruction, barrier, arrivals, nbytes, flags)
    if destination is not None:
        kernel.write(destination, state, kernel.guard(instruction.guard))


def expect(kernel: Kernel, instruction: Instruction) -> None:
    """`expect_tx` and `complete_tx`: more bytes to come, or some that have come."""
    barrier, amount = instruction.operands
    nbytes = kernel.bits_value(amount, 32)
    if instruction.modifiers[0] == "complete_tx":
        nbytes = -nbytes
    _update(kernel, instruction, barrier, kernel.ir.i32(0), nbytes)


def wait(kernel: Kernel, instruction: Instruction) -> None:
    """`test_wait` and `try_wait`: whether the phase that a state or a parity names is over."""
    destination, barrier, state = instruction.operands[:3]
    parity = "parity" in instruction.modifiers
    states = (kernel.bits_value(state, 32).to("i64") if parity else kernel.bits_value(state, 64)).splat()
    bit = kernel.ir.i32(0 if parity else 61)
    done = _call(kernel, "wb_barrier_wait", instruction, barrier, states, bit, result="i32")
    if kernel.watch:
        _watched(kernel, instruction, ACQUIRES, memory.shared_offset(kernel, instruction, barrier), done)
    uniform = destination.name in kernel.flow.uniform
    kernel.write(destination, done.ne(0) if uniform else done.lanes(), kernel.guard(instruction.guard))


def pending_count(kernel: Kernel, instruction: Instruction) -> None:
    destination, state = instruction.operands
    pending = kernel.bits_value(state, 64) & (1 << 20) - 1
    kernel.write(destination, pending.to("i32"), kernel.guard(instruction.guard))


FORMS = {
    "init": init, "inval": invalidate, "arrive": arrive, "arrive_drop": arrive, "expect_tx": expect,
    "complete_tx": expect, "test_wait": wait, "try_wait": wait, "pending_count": pending_count,
}  # fmt: skip


def dispatch(kernel: Kernel, instruction: Instruction) -> None:
    form = FORMS.get(instruction.modifiers[0])
    if form is None:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    form(kernel, instruction)


HANDLERS = {"mbarrier": dispatch}
