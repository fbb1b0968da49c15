"""Which values of a watched kernel nobody has written, followed from the load to the first use that counts.

Compilers read ahead: a load before the branch that decides whether its value is wanted, two elements at once of which
one is needed, a value that `selp` then drops. So an unwritten read is a mistake only where the value matters: where it
is stored or exchanged, or decides a branch or an address. Until then each register that may hold such a value has a
shadow, 64 bits a lane: 0, or the load's place and where it read. Arithmetic hands shadows on; what drops a value
(`selp`, and with 0, or with ones) drops its shadow. Stores to local memory keep what they store unwritten.

What a shuffle gives for a source lane that takes no part is undefined in the same way (PTX ISA, `shfl.sync`). Its
shadow holds the shuffle's place and that lane. Sums of part of a warp send such values on and never use them, so they
pass through shuffles, and count where they are stored, make an address, or decide by a branch whether to store at all.
What goes through an array in local memory isn't followed.
"""

from __future__ import annotations

from vgpu.lower import arithmetic
from vgpu.lower.basic_blocks import kind_of, registers_in, results, sources
from vgpu.lower.uniform import post_dominators
from vgpu.ptx import Instruction, Reg, Vec
from vgpu.runtime.emit import LANES, Value

KEEPS = ("arithmetic", "address")  # kinds that only make values of values
LEAVES_TRACES = ("store", "atomic", "copy", "surface")
COMPARED = "%compared"
SLOT_BYTES = 32  # of one access, each with the lanes for which it is unwritten
PLACE = 48  # the bits of where in a shadow
ABSENT = 1 << 47  # of where: the rest is the lane that a shuffle asked, and no address


def shadow(name: str) -> str:
    return name + "?"


def follow(flow, registers: dict[str, str]) -> set[str]:
    """The registers whose values may come from memory; each gets a shadow that lives as long as it does."""
    body = [i for s in flow.basic_blocks for i in s.body]
    tracked = {name for i in body if _from_memory(i) or _shuffled(i) for name in results(i)}
    makers = [i for i in body if kind_of(i) in KEEPS]
    while more := {n for i in makers if tracked & set(_read(i)) for n in results(i)} - tracked:
        tracked |= more
    registers.update({shadow(name): "b64" for name in tracked} | {COMPARED: "pred"})
    for live in flow.live_in:
        live |= {shadow(name) for name in live & tracked}
    return tracked


def storing(flow) -> set[int]:
    """Basic blocks whose last branch decides alone whether a lane stores something that other threads see."""
    branches = [] if flow.stacked else [s for s in flow.basic_blocks if s.end == "branch"]
    after = post_dominators(flow.basic_blocks) if branches else []
    stores = sum(1 << s.index for s in flow.basic_blocks if any(map(_leaves_traces, s.body)))
    return {s.index for s in branches if any(after[t] & ~after[s.index] & stores for t in s.targets)}


def _leaves_traces(instruction: Instruction) -> bool:
    return kind_of(instruction) in LEAVES_TRACES and "local" not in instruction.modifiers


def _from_memory(instruction: Instruction) -> bool:
    return kind_of(instruction) == "load" and not {"param", "const"} & set(instruction.modifiers)


def _shuffled(instruction: Instruction) -> bool:
    return kind_of(instruction) == "shuffle"


def _read(instruction: Instruction) -> list[str]:
    """The registers that a result is made from."""
    guard = registers_in(instruction.guard)
    return [name for name in sources(instruction) if name not in guard or name in _operands(instruction)]


def _operands(instruction: Instruction) -> list[str]:
    return [name for operand in instruction.operands[1:] for name in registers_in(operand)]


def before(k, instruction: Instruction, kind: str) -> list[tuple[str, Value]]:
    """Tell of values that matter here; give what the shadows of the results are to be."""
    targets = [name for name in results(instruction) if name in k.tracked]
    used(k, registers_in(instruction.guard), absent=_leaves_traces(instruction))
    made = None
    if kind in KEEPS:
        made = _made(k, instruction) if targets else None
    else:
        names = registers_in(instruction.operands[0]) if _copies(k, instruction) else sources(instruction)
        used(k, names, k.guarded_mask(k.guard(instruction.guard)), absent=not _shuffled(instruction))
        targets = [] if kind in ("load", "shuffle") else targets
    made = k.e.const("i64", 0) if made is None else made
    return [(shadow(name), made) for name in targets]


def after(k, instruction: Instruction, made: list[tuple[str, Value]]) -> None:
    guard = k.guard(instruction.guard) if made else None
    for name, value in made:
        k.write(name, value, guard)


def held(k, names) -> Value | None:
    """The shadow of values made from all of these registers; None where all are certain to be written."""
    found = None
    for name in dict.fromkeys(names):
        if name in k.tracked and not (one := k.read(shadow(name))).text.isdecimal():
            found = _first(k, found, one)
    return found


def _first(k, a: Value | None, b: Value | None) -> Value | None:
    """The first of two shadows that is set; what is merged already is not merged again."""
    if a is None or b is None:
        return b if a is None else a
    merged = k.watch.merged
    parts = [merged.get(value.text, frozenset([value.text])) for value in (a, b)]
    for value, part in zip((a, b), parts, strict=True):
        if part == (both := parts[0] | parts[1]):
            return value
    if both not in merged:
        merged[both] = k.e.select(_there(k, a), a, b)
        merged[merged[both].text] = both
    return merged[both]


def _there(k, value: Value | None) -> Value:
    return k.e.const("i1", 0) if value is None else k.e.icmp("ne", value, k.e.const("i64", 0))


def _unwritten(k, value: Value) -> Value:
    """The lanes of a shadow whose value nobody has written, without those that a shuffle took from an absent lane."""
    e = k.e
    return e.bin("and", _there(k, value), e.icmp("eq", e.bin("and", value, e.const("i64", ABSENT)), e.const("i64", 0)))


def _of(k, operand) -> Value | None:
    return held(k, registers_in(operand))


def _made(k, instruction: Instruction) -> Value | None:
    opcode, operands = instruction.opcode, instruction.operands
    if opcode == "selp":
        a, b, condition = (_of(k, o) for o in operands[1:])
        none = k.e.const("i64", 0)
        picked = k.e.select(k.bits_value(operands[3], 1), a or none, b or none) if a or b else None
        return _first(k, condition, picked)
    if opcode in ("and", "or") and len(operands) == 3:
        bits = k.bits(operands[0].name)
        values = [k.bits_value(operand, bits) for operand in operands[1:]]
        return _logical(k, opcode, bits, values, [_of(k, operand) for operand in operands[1:]])
    if opcode == "setp" and len(operands) == 4 and (word := {"and", "or"} & set(instruction.modifiers)):
        words = tuple(m for m in instruction.modifiers if m not in word)
        plain = Instruction("setp", words, (Reg(COMPARED), *operands[1:3]), None, instruction.location)
        arithmetic.lower(k, plain)
        values = [k.read(COMPARED), k.bits_value(operands[3], 1)]
        return _logical(k, word.pop(), 1, values, [held(k, _operands(plain)), _of(k, operands[3])])
    return held(k, _read(instruction))


def _logical(k, opcode: str, bits: int, values, shadows) -> Value | None:
    """Of `and` and `or`: an operand does not matter beside a written 0, or all ones."""
    e, decides = k.e, k.e.const(f"i{bits}", 0 if opcode == "and" else -1)
    found = None
    for mine, other, theirs in ((shadows[0], values[1], shadows[1]), (shadows[1], values[0], shadows[0])):
        if mine is not None:
            matters = e.bin("or", e.icmp("ne", other, decides), _there(k, theirs))
            found = _first(k, found, e.select(matters, mine, e.const("i64", 0)))
    return found


def used(k, names, mask: Value | None = None, absent: bool = True) -> None:
    """Report the lanes for which one of these registers is undefined; once for each load or shuffle.

    absent: whether what was shuffled from an absent lane counts here, beside what nobody has written.
    """
    e, value = k.e, held(k, names)
    if value is None:
        return
    value = e.splat(value)
    undefined = _there(k, value) if absent else _unwritten(k, value)
    lanes = e.bin("and", k.bits_of(undefined), k.mask if mask is None else mask)
    some = e.icmp("ne", lanes, e.const("i32", 0))
    k.watch.uses += 1
    tag = f"used{k.watch.uses}"
    e.line(f"br i1 {some.text}, label %{tag}, label %{tag}_end")
    e.label(tag)
    e.declarations.add(f"declare void @wb_s_used(ptr, <{LANES} x i64>, i32)")
    e.line(f"call void @wb_s_used(ptr %ctx, {value.full} {value.text}, i32 {lanes.text})")
    e.line(f"br label %{tag}_end")
    e.label(f"{tag}_end")
    told = k.lanes_of(lanes)
    for name in dict.fromkeys(names):
        if name in k.tracked:
            k.write(shadow(name), e.select(told, e.const("i64", 0), k.read(shadow(name))))


# ---------------------------------------------------------------- memory


def prepare(k, instruction: Instruction, nbytes: int) -> None:
    """Before an access: no byte is unwritten, but for those that a store to local memory keeps so."""
    e = k.e
    e.line(f"store <{SLOT_BYTES} x i32> zeroinitializer, ptr %unset_slot, align 64")
    if not _copies(k, instruction):
        return
    source = instruction.operands[1]
    items = source.items if isinstance(source, Vec) else (source,)
    size = nbytes // len(items)
    for index, item in enumerate(items):
        if item is not None and (value := _of(k, item)) is not None:
            lanes = k.bits_of(_unwritten(k, value))
            for byte in range(index * size, (index + 1) * size):
                e.line(f"store i32 {lanes.text}, ptr {_byte(e, byte)}, align 4")


def _copies(k, instruction: Instruction) -> bool:
    """Whether this only puts a value elsewhere in a thread's own memory."""
    return instruction.opcode == "st" and "local" in instruction.modifiers and not k.watch.prints


def _byte(e, offset: int) -> str:
    return e.assign(f"getelementptr i32, ptr %unset_slot, i64 {offset}", "ptr", False).text


def loaded(k, place, offset: int, nbytes: int, guard) -> None:
    """After a load: the shadow of the register that gets the bytes from `offset` on."""
    if place is None or place.name not in k.tracked:
        return
    e, (number, where) = k.e, k.watch.accessed
    masks = e.assign(f"load <{nbytes} x i32>, ptr {_byte(e, offset)}, align 4", "i32", False)
    name = f"llvm.vector.reduce.or.v{nbytes}i32"
    e.declarations.add(f"declare i32 @{name}(<{nbytes} x i32>)")
    mask = e.assign(f"call i32 @{name}(<{nbytes} x i32> {masks.text})", "i32", False)
    entry = e.bin("or", e.bin("add", where, e.const("i64", offset)), e.const("i64", number << PLACE))
    k.write(shadow(place.name), e.select(k.lanes_of(mask), entry, e.const("i64", 0)), guard)


# ---------------------------------------------------------------- shuffles


def shuffled(k, instruction: Instruction, target: Reg, source: Value, taking: Value, guard) -> None:
    """After a shuffle: the shadow of its result, whose value lane i has from lane `source[i]`.

    taking: the lanes that take part, as each lane names them.
    """
    e, number = k.e, k.watch.place(k, instruction, "shuffle")
    wide = e.resize(source, 64)
    passed = e.const("i64", 0)
    if (given := _of(k, instruction.operands[1])) is not None:
        given = e.splat(given)
        halves = (e.resize(given, 32), e.resize(e.bin("lshr", given, e.const("i64", 32)), 32))
        low, high = (e.resize(e.lanes("wb_permute", half, source, result="i32"), 64) for half in halves)
        passed = e.bin("or", low, e.bin("shl", high, e.const("i64", 32)))
    there = e.bin("and", e.bin("lshr", e.splat(taking), source), e.const("i32", 1))
    absent = e.bin("or", wide, e.const("i64", number << PLACE | ABSENT))
    k.write(shadow(target.name), e.select(e.icmp("ne", there, e.const("i32", 0)), passed, absent), guard)
