"""What lanes of a warp do together, in LLVM IR: shuffles, votes, matches, reductions, and how they are gathered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vgpu import isa
from vgpu.base.context import PC_DONE, PC_SYNC
from vgpu.ir import LANES, Value
from vgpu.ir.value import V32
from vgpu.lower import definedness
from vgpu.lower.basic_blocks import BasicBlock
from vgpu.ptx import Imm, Instruction, Operand, Pair

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel
    from vgpu.lower.operands import Operands

Reduction = Callable[[Value], Value]  # of the lanes given, to a scalar


def first_active(kernel: Operands, value: Value, mask: Value | None = None) -> Value:
    """The value in the first active lane, as a scalar."""
    return value.lane(kernel.ir.lowest(mask or kernel.mask) & LANES - 1) if value.vector else value


def members(kernel: Kernel, operand: Operand) -> Value:
    """Bits of the lanes that take part: named by the membermask and active now.

    One number for the warp, or one a lane where lanes may name different masks, as the tiles of a warp do.
    """
    return kernel.bits_value(operand, 32) & kernel.mask


SHUFFLES: dict[str, Callable[[Any, Any, Any], Any]] = {  # mode -> the lane asked, by own lane, operand b and segment
    "up": lambda lane, b, segment: lane - b,
    "down": lambda lane, b, segment: lane + b,
    "bfly": lambda lane, b, segment: lane ^ b,
    "idx": lambda lane, b, segment: lane & segment | b & ~segment,
}  # fmt: skip


def _asked(mode: str, lane: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """The lane that a lane asks, and the last one it may ask: of Values or of numbers."""
    segment = c >> 8 & 31
    return SHUFFLES[mode](lane, b & 31, segment), lane & segment | c & 31 & ~segment


def shuffle(kernel: Kernel, instruction: Instruction) -> None:
    destination, value, place, clamp = instruction.operands[:4]
    mode = next(m for m in instruction.modifiers if m in SHUFFLES)
    a, b, c = (kernel.bits_value(o, 32) for o in (value, place, clamp))
    guard = kernel.guard(instruction.guard)
    # What a lane holds that takes no part is undefined: it gives 0, in both engines.
    given = kernel.guarded_mask(guard).lanes().select(a, 0)
    if isinstance(place, Imm) and isinstance(clamp, Imm):
        asked = [_asked(mode, lane, place.value, clamp.value) for lane in range(LANES)]
        within = [at >= last if mode == "up" else at <= last for at, last in asked]
        order = [at if ok else lane for lane, (ok, (at, _)) in enumerate(zip(within, asked, strict=True))]
        inside, source = kernel.ir.each_lane("i1", map(int, within)), kernel.ir.each_lane("i32", order)
        result = given.shuffle(None, order)
    else:
        lane = kernel.ir.each_lane("i32")
        at, last = _asked(mode, lane, b, c)
        inside = at.compare("sge" if mode == "up" else "sle", last)
        source = inside.select(at, lane)
        result = given.lanewise("wb_permute", source, result="i32")
    if isinstance(destination, Pair):
        if destination.second is not None:
            kernel.write(destination.second, inside, guard)
        destination = destination.first
    if destination is not None:
        kernel.write(destination, result, guard)
        if kernel.watch and destination.name in kernel.tracked:
            named = kernel.bits_value(instruction.operands[4], 32) if "sync" in instruction.modifiers else kernel.mask
            definedness.shuffled(kernel, instruction, destination, source, named & kernel.guarded_mask(guard), guard)


def vote(kernel: Kernel, instruction: Instruction) -> None:
    guard, destination = kernel.guard(instruction.guard), instruction.operands[0]
    if instruction.opcode == "activemask":
        kernel.write(destination, kernel.mask, guard)
        return
    taking = members(kernel, instruction.operands[2]) if len(instruction.operands) > 2 else kernel.mask
    said = kernel.bits_value(instruction.operands[1], 1).bits() & taking
    none, every = said.eq(0), said.eq(taking)
    answers = {"all": lambda: every, "any": lambda: ~none, "uni": lambda: none | every, "ballot": lambda: said}
    kernel.write(destination, next(answers[m] for m in instruction.modifiers if m in answers)(), guard)


def match(kernel: Kernel, instruction: Instruction) -> None:
    guard = kernel.guard(instruction.guard)
    destination, value, mask = instruction.operands[:3]
    bits = isa.TYPES[next(m for m in instruction.modifiers if m in ("b32", "b64"))].bits
    taking = members(kernel, mask)
    same = kernel.ir.call(V32, "wb_match", kernel.bits_value(value, bits).to("i64").splat(), kernel.mask) & taking
    if "any" in instruction.modifiers:
        kernel.write(destination, same, guard)
        return
    every = same.eq(taking)
    pair = destination if isinstance(destination, Pair) else Pair(destination, None)
    if pair.second is not None:
        kernel.write(pair.second, every, guard)
    if pair.first is not None:
        kernel.write(pair.first, every.select(taking, 0), guard)


# ---------------------------------------------------------------- reductions

REDUCTIONS = {  # operation -> (LLVM's name for unsigned, for signed, neutral element for unsigned, for signed)
    "add": ("add", "add", 0, 0), "min": ("umin", "smin", 0xFFFFFFFF, 0x7FFFFFFF),
    "max": ("umax", "smax", 0, 0x80000000), "and": ("and", "and", 0xFFFFFFFF, 0xFFFFFFFF),
    "or": ("or", "or", 0, 0), "xor": ("xor", "xor", 0, 0),
}  # fmt: skip


def redux(kernel: Kernel, instruction: Instruction) -> None:
    destination, value, mask = instruction.operands
    operation = next(m for m in instruction.modifiers if m in REDUCTIONS)
    taking = members(kernel, mask)
    make = _of_floats if instruction.modifiers[-1] == "f32" else _of_integers
    reduced = make(kernel, instruction, operation, value)
    result = each_team(kernel, taking, reduced) if taking.vector else reduced(taking.lanes())
    kernel.write(destination, result, kernel.guard(instruction.guard))


def _of_integers(kernel: Kernel, instruction: Instruction, operation: str, value: Operand) -> Reduction:
    name, signed_name, neutral, signed_neutral = REDUCTIONS[operation]
    if instruction.modifiers[-1][0] == "s":
        name, neutral = signed_name, signed_neutral
    return lambda lanes: lanes.select(kernel.bits_value(value, 32), neutral).reduce(name)


def _of_floats(kernel: Kernel, instruction: Instruction, operation: str, value: Operand) -> Reduction:
    """`redux.f32` on the lanes of a team: floats as integers of the same order, NaNs left out or taking all."""
    words = instruction.modifiers
    bits = kernel.lanes_value(value, 32)
    if "abs" in words:
        bits = bits & 0x7FFFFFFF
    nan = (bits & 0x7FFFFFFF).above(0x7F800000)
    keys, neutral = _ordered(bits), 0x7FFFFFFF if operation == "min" else 0x80000000

    def reduced(lanes: Value) -> Value:
        valid = lanes & ~nan
        best = valid.select(keys, neutral).reduce(f"s{operation}")
        there = valid.bits()
        none = there.eq(0)
        if "NaN" in words:
            none = none | there.ne(lanes.bits())
        return none.select(0x7FFFFFFF, _ordered(best))

    return reduced


def _ordered(bits: Value) -> Value:
    """A float's bits as an integer that compares as the float does, or back."""
    return bits ^ bits.ashr(31) >> 1


def each_team(kernel: Kernel, taking: Value, reduced: Reduction) -> Value:
    """Lanes name different masks: `reduced(lanes)` for one team after the other, given to the lanes of each."""
    rest, done = kernel.ir.variable("i32", kernel.mask), kernel.ir.variable(V32, 0)
    with kernel.ir.repeat() as stop:
        left = rest.get()
        team = first_active(kernel, taking, left)
        lanes = team.lanes()
        done.set(lanes.select(reduced(lanes), done.get()))
        left = left & ~(team | left & -left)
        rest.set(left)
        stop(left.eq(0))
    return done.get()


def elect(kernel: Kernel, instruction: Instruction) -> None:
    destination, mask = instruction.operands
    leader = kernel.ir.lowest(members(kernel, mask))
    guard = kernel.guard(instruction.guard)
    if destination.first is not None:
        kernel.write(destination.first, leader, guard)
    kernel.write(destination.second, kernel.ir.each_lane("i32").eq(leader), guard)


# ---------------------------------------------------------------- who is there


def gather_lanes(kernel: Kernel, basic_block: BasicBlock) -> None:
    """At the start of a basic block whose first instruction is a .sync one in divergent code: wait for its members.

    Lanes that arrive early are set aside until the others come, or until no other lane can run any more.
    """
    ir, v, index = kernel.ir, kernel.vars, basic_block.index
    kernel.flush()
    kernel.mask = v.mask.get()
    kernel.active = kernel.mask.lanes()
    kernel.current = instruction = basic_block.body[0]
    pcs = kernel.pcs()
    alive = ~pcs.eq(PC_DONE).bits() | kernel.mask
    here = (pcs & (0xFFFFFFFF ^ PC_SYNC)).eq(index).bits() | kernel.mask
    if isa.KINDS.get(instruction.opcode) in (
        "tensor",
        "tensor_memory",
    ):  # all lanes take part, without a mask that says so
        named = ir.i32(-1)
    else:
        named = kernel.bits_value(instruction.operands[-1], 32) if instruction.operands else kernel.mask
    if named.vector:  # tiles of a warp name different lanes: wait for all of them
        named = here.lanes().select(named, 0).reduce("or")
    missing = named & alive & ~here
    with ir.when(~(v.forced.get() | missing.eq(0))):
        v.target.set(index | PC_SYNC)
        ir.go("park")
    v.mask.set(here)
    v.forced.set(0)
    v.others.set(here.lanes().select(PC_DONE, pcs).reduce("umin"))
    # What was read under the narrower mask must be read again under the wider one.
    kernel.env, kernel.loaded = {}, {}


HANDLERS = {
    "shuffle": shuffle, "vote": vote, "match": match, "redux": redux, "elect": elect,
}  # fmt: skip
