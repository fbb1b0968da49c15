"""`mbarrier` in LLVM IR: calls of the runtime (`runtime/mbarrier.py`)."""

from __future__ import annotations

from vgpu.base.context import DROP, NO_COMPLETE
from vgpu.lower import watch
from vgpu.lower.async_copy import V32, V64, call, shared_offsets
from vgpu.ptx import Instruction
from vgpu.runtime.emit import Value

# For the sanitizer: who arrives passes on what it knows; who waited with success learns of it.
ARRIVES = {"arrive", "arrive_drop", "complete_tx"}
RELEASES, ACQUIRES = 6, 1


def _barrier(k, instruction: Instruction, operand) -> str:
    """The arguments that all calls begin with: the site, where the barriers lie and which lanes take part."""
    site = k.site_pointer(k.site(instruction, "mbarrier", "shared", 8))
    offsets = shared_offsets(k, instruction, operand)
    mask = k.guarded_mask(k.guard(instruction.guard))
    if k.watch and instruction.modifiers[0] in ARRIVES:
        watch.passes(k, k.watch.place(k, instruction, "mbarrier", "shared"), RELEASES, offsets, mask, shared=True)
    return f"ptr %ctx, ptr {site}, {V32} {offsets.text}, i32 {mask.text}"


HEAD = f"ptr, ptr, {V32}, i32"


def _lanes(k, operand, bits: int) -> str:
    return k.e.splat(k.bits_value(operand, bits)).text


def init(k, instruction: Instruction) -> None:
    barrier, count = instruction.operands
    head = _barrier(k, instruction, barrier)
    arguments = f"{head}, {V32} {_lanes(k, count, 32)}"
    k.e.line(call(k, "wb_barrier_init", f"{HEAD}, {V32}", arguments))


def invalidate(k, instruction: Instruction) -> None:
    k.e.line(call(k, "wb_barrier_inval", HEAD, _barrier(k, instruction, instruction.operands[0])))


def _update(k, instruction: Instruction, barrier, arrivals: str, nbytes: str, flags: int) -> Value:
    head = _barrier(k, instruction, barrier)
    arguments = f"{head}, {V32} {arrivals}, {V32} {nbytes}, i32 {flags}"
    text = call(k, "wb_barrier_update", f"{HEAD}, {V32}, {V32}, i32", arguments, V64)
    return k.e.assign(text, "i64", True)


def arrive(k, instruction: Instruction) -> None:
    """`arrive` and `arrive_drop`: by 1 or a count, or by 1 with bytes to expect."""
    words = instruction.modifiers
    destination, barrier, *rest = instruction.operands
    one, none = (k.e.splat(k.e.const("i32", n)).text for n in (1, 0))
    amount = _lanes(k, rest[0], 32) if rest else one
    flags = (DROP if words[0] == "arrive_drop" else 0) | (NO_COMPLETE if "noComplete" in words else 0)
    expects = "expect_tx" in words
    arrivals, nbytes = (one, amount) if expects else (amount, none)
    state = _update(k, instruction, barrier, arrivals, nbytes, flags)
    if destination is not None:
        k.write(destination, state, k.guard(instruction.guard))


def expect(k, instruction: Instruction) -> None:
    """`expect_tx` and `complete_tx`: more bytes to come, or some that have come."""
    barrier, amount = instruction.operands
    e = k.e
    nbytes = e.splat(k.bits_value(amount, 32))
    if instruction.modifiers[0] == "complete_tx":
        nbytes = e.neg(nbytes)
    _update(k, instruction, barrier, e.splat(e.const("i32", 0)).text, nbytes.text, 0)


def wait(k, instruction: Instruction) -> None:
    """`test_wait` and `try_wait`: whether the phase that a state or a parity names is over."""
    e = k.e
    destination, barrier, state = instruction.operands[:3]
    parity = "parity" in instruction.modifiers
    states = e.splat(e.resize(k.bits_value(state, 32), 64) if parity else k.bits_value(state, 64))
    head = _barrier(k, instruction, barrier)
    arguments = f"{head}, {V64} {states.text}, i32 {0 if parity else 61}"
    done = e.assign(call(k, "wb_barrier_wait", f"{HEAD}, {V64}, i32", arguments, "i32"), "i32", False)
    if k.watch:
        offsets = shared_offsets(k, instruction, barrier)
        watch.passes(k, k.watch.place(k, instruction, "mbarrier", "shared"), ACQUIRES, offsets, done, shared=True)
    result = k.lanes_of(done)
    if destination.name in k.flow.uniform:
        result = e.icmp("ne", done, e.const("i32", 0))
    k.write(destination, result, k.guard(instruction.guard))


def pending_count(k, instruction: Instruction) -> None:
    destination, state = instruction.operands
    e = k.e
    pending = e.bin("and", k.bits_value(state, 64), e.const("i64", (1 << 20) - 1))
    k.write(destination, e.resize(pending, 32), k.guard(instruction.guard))


FORMS = {
    "init": init, "inval": invalidate, "arrive": arrive, "arrive_drop": arrive, "expect_tx": expect,
    "complete_tx": expect, "test_wait": wait, "try_wait": wait, "pending_count": pending_count,
}  # fmt: skip


def dispatch(k, instruction: Instruction) -> None:
    form = FORMS.get(instruction.modifiers[0])
    if form is None:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    form(k, instruction)


HANDLERS = {"mbarrier": dispatch}
