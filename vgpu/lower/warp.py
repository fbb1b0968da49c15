"""What lanes of a warp do together, in LLVM IR: shuffles, votes, matches, reductions, and how they are gathered."""

from __future__ import annotations

from vgpu import isa
from vgpu.base.context import PC_DONE, PC_SYNC
from vgpu.lower import definedness
from vgpu.ptx import Instruction, Pair
from vgpu.runtime.emit import LANES, Value


def first_active(k, value: Value, mask: Value | None = None) -> Value:
    """The value in the first active lane, as a scalar."""
    if not value.vector:
        return value
    e = k.e
    lane = e.intrinsic("llvm.cttz", mask or k.mask, tail=", i1 false")
    lane = e.bin("and", lane, e.const("i32", LANES - 1))
    return e.assign(f"extractelement {value.full} {value.text}, i32 {lane.text}", value.type, False)


def members(k, operand) -> Value:
    """Bits of the lanes that take part: named by the membermask and active now.

    One number for the warp, or one a lane where lanes may name different masks, as the tiles of a warp do.
    """
    return k.e.bin("and", k.bits_value(operand, 32), k.mask)


def shuffle(k, instruction: Instruction) -> None:
    e = k.e
    destination, value, place, clamp = instruction.operands[:4]
    mode = next(m for m in instruction.modifiers if m in ("up", "down", "bfly", "idx"))
    lane = e.vector_const("i32", range(LANES))
    a, b, c = (k.bits_value(o, 32) for o in (value, place, clamp))
    five = e.const("i32", 31)
    limit, basic_block = e.bin("and", c, five), e.bin("and", e.bin("lshr", c, e.const("i32", 8)), five)
    b = e.bin("and", b, five)
    floor = e.bin("and", lane, basic_block)
    ceiling = e.bin("or", floor, e.bin("and", limit, e.flip(basic_block)))
    source = {
        "up": lambda: e.bin("sub", lane, b),
        "down": lambda: e.bin("add", lane, b),
        "bfly": lambda: e.bin("xor", lane, b),
        "idx": lambda: e.bin("or", floor, e.bin("and", b, e.flip(basic_block))),
    }[mode]()
    inside = e.icmp("sge" if mode == "up" else "sle", source, ceiling)
    source = e.select(inside, source, lane)
    guard = k.guard(instruction.guard)
    # What a lane holds that does not take part is nobody's business: it gives 0, in both engines.
    given = e.select(k.lanes_of(k.guarded_mask(guard)), a, e.const("i32", 0))
    result = e.lanes("wb_permute", given, source, result="i32")
    if isinstance(destination, Pair):
        if destination.second is not None:
            k.write(destination.second, inside, guard)
        destination = destination.first
    if destination is not None:
        k.write(destination, result, guard)
        if k.watch and destination.name in k.tracked:
            named = k.bits_value(instruction.operands[4], 32) if "sync" in instruction.modifiers else k.mask
            taking = e.bin("and", named, k.guarded_mask(guard))
            definedness.shuffled(k, instruction, destination, source, taking, guard)


def vote(k, instruction: Instruction) -> None:
    e, guard = k.e, k.guard(instruction.guard)
    destination = instruction.operands[0]
    if instruction.opcode == "activemask":
        k.write(destination, k.mask, guard)
        return
    taking = members(k, instruction.operands[2]) if len(instruction.operands) > 2 else k.mask
    said = e.bin("and", k.bits_of(k.bits_value(instruction.operands[1], 1)), taking)
    none, every = e.icmp("eq", said, e.const("i32", 0)), e.icmp("eq", said, taking)
    mode = next(m for m in instruction.modifiers if m in ("all", "any", "uni", "ballot"))
    answers = {"all": every, "any": e.flip(none), "uni": e.bin("or", none, every), "ballot": said}
    k.write(destination, answers[mode], guard)


def match(k, instruction: Instruction) -> None:
    e, guard = k.e, k.guard(instruction.guard)
    destination, value, mask = instruction.operands[:3]
    bits = isa.TYPES[next(m for m in instruction.modifiers if m in ("b32", "b64"))].bits
    taking = members(k, mask)
    wide = e.splat(e.resize(k.bits_value(value, bits), 64))
    e.declarations.add(f"declare <{LANES} x i32> @wb_match(<{LANES} x i64>, i32)")
    same = e.assign(f"call <{LANES} x i32> @wb_match({wide.full} {wide.text}, i32 {k.mask.text})", "i32", True)
    same = e.bin("and", same, taking)
    if "any" in instruction.modifiers:
        k.write(destination, same, guard)
        return
    every = e.icmp("eq", same, taking)
    result = e.select(every, taking, e.const("i32", 0))
    first = destination.first if isinstance(destination, Pair) else destination
    if isinstance(destination, Pair) and destination.second is not None:
        k.write(destination.second, every, guard)
    if first is not None:
        k.write(first, result, guard)


REDUCTIONS = {  # operation -> (LLVM's name for unsigned, for signed, neutral element for unsigned, for signed)
    "add": ("add", "add", 0, 0), "min": ("umin", "smin", 0xFFFFFFFF, 0x7FFFFFFF),
    "max": ("umax", "smax", 0, 0x80000000), "and": ("and", "and", 0xFFFFFFFF, 0xFFFFFFFF),
    "or": ("or", "or", 0, 0), "xor": ("xor", "xor", 0, 0),
}  # fmt: skip


def redux(k, instruction: Instruction) -> None:
    e = k.e
    destination, value, mask = instruction.operands
    operation = next(m for m in instruction.modifiers if m in REDUCTIONS)
    taking = members(k, mask)
    if instruction.modifiers[-1] == "f32":
        reduced = _least_float(k, instruction, operation, value)
        result = each_team(k, taking, reduced) if taking.vector else reduced(k.lanes_of(taking))
        k.write(destination, result, k.guard(instruction.guard))
        return
    signed = instruction.modifiers[-1][0] == "s"
    name, neutral = REDUCTIONS[operation][signed], REDUCTIONS[operation][2 + signed]
    e.declarations.add(f"declare i32 @llvm.vector.reduce.{name}.v{LANES}i32(<{LANES} x i32>)")

    def reduced(lanes):
        chosen = e.select(lanes, k.bits_value(value, 32), e.const("i32", neutral))
        return e.assign(f"call i32 @llvm.vector.reduce.{name}.v{LANES}i32({chosen.full} {chosen.text})", "i32", False)

    result = each_team(k, taking, reduced) if taking.vector else reduced(k.lanes_of(taking))
    k.write(destination, result, k.guard(instruction.guard))


def _least_float(k, instruction: Instruction, operation: str, value):
    """`redux.f32` on the lanes of a team: floats as integers of the same order, NaNs left out or taking all."""
    e, words = k.e, instruction.modifiers
    i32 = lambda number: e.const("i32", number)
    bits = e.splat(k.bits_value(value, 32))
    if "abs" in words:
        bits = e.bin("and", bits, i32(0x7FFFFFFF))
    nan = e.icmp("ugt", e.bin("and", bits, i32(0x7FFFFFFF)), i32(0x7F800000))
    flip = lambda x: e.bin("xor", x, e.bin("lshr", e.bin("ashr", x, i32(31)), i32(1)))
    keys, neutral = flip(bits), i32(0x7FFFFFFF if operation == "min" else 0x80000000)
    function = f"llvm.vector.reduce.s{operation}.v{LANES}i32"
    e.declarations.add(f"declare i32 @{function}(<{LANES} x i32>)")

    def reduced(lanes):
        valid = e.bin("and", lanes, e.flip(nan))
        chosen = e.select(valid, keys, neutral)
        best = e.assign(f"call i32 @{function}({chosen.full} {chosen.text})", "i32", False)
        there = k.bits_of(valid)
        none = e.icmp("eq", there, i32(0))
        if "NaN" in words:
            none = e.bin("or", none, e.icmp("ne", there, k.bits_of(lanes)))
        return e.select(none, i32(0x7FFFFFFF), flip(best))

    return reduced


def each_team(k, taking: Value, reduced) -> Value:
    """Lanes name different masks: `reduced(lanes)` for one team after the other, given to the lanes of each."""
    e, at = k.e, k.e.count
    left, done = e.name(), e.name()
    e.line(f"br label %teams{at}")
    e.label(f"teams{at}")
    e.line(f"br label %team{at}")
    e.label(f"team{at}")
    rest = e.assign(f"phi i32 [{k.mask.text}, %teams{at}], [{left}, %team{at}]", "i32", False)
    before = e.assign(f"phi <{LANES} x i32> [zeroinitializer, %teams{at}], [{done}, %team{at}]", "i32", True)
    team = first_active(k, taking, rest)
    lanes = k.lanes_of(team)
    value = e.splat(reduced(lanes))
    e.line(f"{done} = select {lanes.full} {lanes.text}, {value.full} {value.text}, {value.full} {before.text}")
    first = e.bin("and", rest, e.bin("sub", e.const("i32", 0), rest))
    e.line(f"{left} = and i32 {rest.text}, {e.flip(e.bin('or', team, first)).text}")
    more = e.icmp("ne", Value(left, "i32", False), e.const("i32", 0))
    e.line(f"br i1 {more.text}, label %team{at}, label %all{at}")
    e.label(f"all{at}")
    return Value(done, "i32", True)


def elect(k, instruction: Instruction) -> None:
    e = k.e
    destination, mask = instruction.operands
    leader = e.intrinsic("llvm.cttz", members(k, mask), tail=", i1 false")
    pair = destination if isinstance(destination, Pair) else Pair(destination, None)
    if pair.first is not None:
        k.write(pair.first, leader)
    if pair.second is not None:
        k.write(pair.second, e.icmp("eq", e.vector_const("i32", range(LANES)), leader))


def gather_lanes(k, basic_block) -> None:
    """At the start of a basic block whose first instruction is a .sync one in divergent code: wait for its members.

    Lanes that arrive early are set aside until the others come, or until no other lane can run any more.
    """
    e, index = k.e, basic_block.index
    k.flush()
    k.mask = e.assign("load i32, ptr %mask_slot", "i32", False)
    k.active = k.lanes_of(k.mask)
    k.current = instruction = basic_block.body[0]
    pcs = e.assign(f"load <{LANES} x i32>, ptr %state, align 64", "i32", True)
    gone = k.bits_of(e.icmp("eq", pcs, e.const("i32", PC_DONE)))
    alive = e.bin("or", e.flip(gone), k.mask)
    place = e.bin("and", pcs, e.const("i32", 0xFFFFFFFF ^ PC_SYNC))
    parked = k.bits_of(e.icmp("eq", place, e.const("i32", index)))
    here = e.bin("or", parked, k.mask)
    if isa.KINDS.get(instruction.opcode) == "tensor":  # all lanes take part, without a mask that says so
        named = e.const("i32", -1)
    else:
        named = k.bits_value(instruction.operands[-1], 32) if instruction.operands else k.mask
    if named.vector:  # tiles of a warp name different lanes: wait for all of them
        chosen = e.select(k.lanes_of(here), named, e.const("i32", 0))
        named = e.assign(f"call i32 @llvm.vector.reduce.or.v{LANES}i32({chosen.full} {chosen.text})", "i32", False)
        e.declarations.add(f"declare i32 @llvm.vector.reduce.or.v{LANES}i32(<{LANES} x i32>)")
    missing = e.bin("and", e.bin("and", named, alive), e.flip(here))
    forced = e.assign("load i1, ptr %forced_slot", "i1", False)
    go = e.bin("or", forced, e.icmp("eq", missing, e.const("i32", 0)))
    e.line(f"br i1 {go.text}, label %meet{index}, label %await{index}")
    e.label(f"await{index}")
    e.line(f"store i32 {index | PC_SYNC}, ptr %target_slot")
    e.line("br label %park")
    e.label(f"meet{index}")
    e.line(f"store i32 {here.text}, ptr %mask_slot")
    e.line("store i1 false, ptr %forced_slot")
    others = e.select(k.lanes_of(here), e.const("i32", PC_DONE), pcs)
    low = e.assign(f"call i32 @llvm.vector.reduce.umin.v{LANES}i32({others.full} {others.text})", "i32", False)
    e.line(f"store i32 {low.text}, ptr %others_slot")
    # What was read under the narrower mask must be read again under the wider one.
    k.env, k.loaded = {}, {}


HANDLERS = {
    "shuffle": shuffle, "vote": vote, "match": match, "redux": redux, "elect": elect,
}  # fmt: skip
