"""Which values of a watched kernel are unwritten, followed from the load to the first use that counts.

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

from collections.abc import Iterable
from typing import TYPE_CHECKING

from vgpu import isa
from vgpu.ir import Value, vector
from vgpu.lower import arithmetic, in_flight
from vgpu.lower.basic_blocks import items_of, kind_of, registers_in, results, sources
from vgpu.lower.uniform import post_dominators
from vgpu.ptx import Instruction, Operand, Reg

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel
    from vgpu.lower.flow import Flow

KEEPS = ("arithmetic", "address")  # kinds that only make values of values
LEAVES_TRACES = ("store", "atomic", "copy", "surface")
COMPARED = "%compared"
SLOT_BYTES = 32  # of one access, each with the lanes for which it is unwritten
PLACE = 48  # the bits of where in a shadow
ABSENT = 1 << 47  # of where: the rest is the lane that a shuffle asked, and no address


def shadow(name: str) -> str:
    return name + "?"


def follow(flow: Flow, registers: dict[str, str]) -> set[str]:
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


def storing(flow: Flow) -> set[int]:
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


def before(kernel: Kernel, instruction: Instruction, kind: str) -> list[tuple[str, Value]]:
    """Tell of values that matter here; give what the shadows of the results are to be."""
    targets = [name for name in results(instruction) if name in kernel.tracked]
    used(kernel, registers_in(instruction.guard), absent=_leaves_traces(instruction))
    made = None
    if kind in KEEPS:
        made = _made(kernel, instruction) if targets else None
    else:
        names = registers_in(instruction.operands[0]) if _copies(kernel, instruction) else sources(instruction)
        if instruction.opcode == "wgmma" and in_flight.is_product(instruction):  # D counts where it is added to
            names = _operands(instruction)
            keeps = kernel.bits_value(instruction.operands[3], 1).bits()
            used(kernel, results(instruction), kernel.lanes_that_run(instruction) & keeps)
        used(kernel, names, kernel.lanes_that_run(instruction), absent=not _shuffled(instruction))
        targets = [] if kind in ("load", "shuffle") else targets
    made = kernel.ir.i64(0) if made is None else made
    return [(shadow(name), made) for name in targets]


def after(kernel: Kernel, instruction: Instruction, made: list[tuple[str, Value]]) -> None:
    guard = kernel.guard(instruction.guard) if made else None
    for name, value in made:
        kernel.write(name, value, guard)


def held(kernel: Kernel, names: Iterable[str]) -> Value | None:
    """The shadow of values made from all of these registers; None where all are certain to be written."""
    found = None
    for name in dict.fromkeys(names):
        if name in kernel.tracked and not (one := kernel.read(shadow(name))).text.isdecimal():
            found = _first(kernel, found, one)
    return found


def _first(kernel: Kernel, a: Value | None, b: Value | None) -> Value | None:
    """The first of two shadows that is set; what is merged already is not merged again."""
    if a is None or b is None:
        return b if a is None else a
    merged, made_of = kernel.watching.merged, kernel.watching.made_of
    parts = [made_of.get(value.text, frozenset([value.text])) for value in (a, b)]
    for value, part in zip((a, b), parts, strict=True):
        if part == (both := parts[0] | parts[1]):
            return value
    if both not in merged:
        merged[both] = _there(kernel, a).select(a, b)
        made_of[merged[both].text] = both
    return merged[both]


def _there(kernel: Kernel, value: Value | None) -> Value:
    return kernel.ir.number("i1", 0) if value is None else value.ne(0)


def _unwritten(kernel: Kernel, value: Value) -> Value:
    """The lanes of a shadow whose value is unwritten, without those that a shuffle took from an absent lane."""
    return _there(kernel, value) & (value & ABSENT).eq(0)


def _of(kernel: Kernel, operand: Operand) -> Value | None:
    return held(kernel, registers_in(operand))


def _made(kernel: Kernel, instruction: Instruction) -> Value | None:
    opcode, operands = instruction.opcode, instruction.operands
    if opcode == "selp" and isa.match(opcode, instruction.modifiers):
        a, b, condition = (_of(kernel, o) for o in operands[1:])
        none = kernel.ir.i64(0)
        picked = kernel.bits_value(operands[3], 1).select(a or none, b or none) if a or b else None
        return _first(kernel, condition, picked)
    if opcode in ("and", "or") and len(operands) == 3:
        bits = kernel.bits(operands[0].name)
        values = [kernel.bits_value(operand, bits) for operand in operands[1:]]
        return _logical(kernel, opcode, bits, values, [_of(kernel, operand) for operand in operands[1:]])
    if opcode == "setp" and len(operands) == 4 and (word := {"and", "or"} & set(instruction.modifiers)):
        words = tuple(m for m in instruction.modifiers if m not in word)
        plain = Instruction("setp", words, (Reg(COMPARED), *operands[1:3]), None, instruction.location)
        arithmetic.lower(kernel, plain)
        values = [kernel.read(COMPARED), kernel.bits_value(operands[3], 1)]
        return _logical(kernel, word.pop(), 1, values, [held(kernel, _operands(plain)), _of(kernel, operands[3])])
    return held(kernel, _read(instruction))


def _logical(kernel: Kernel, opcode: str, bits: int, values: list[Value], shadows: list[Value | None]) -> Value | None:
    """Of `and` and `or`: an operand does not matter beside a written 0, or all ones."""
    decides = 0 if opcode == "and" else -1
    found = None
    for mine, other, theirs in ((shadows[0], values[1], shadows[1]), (shadows[1], values[0], shadows[0])):
        if mine is not None:
            matters = other.ne(decides) | _there(kernel, theirs)
            found = _first(kernel, found, matters.select(mine, 0))
    return found


def used(kernel: Kernel, names: Iterable[str], mask: Value | None = None, absent: bool = True) -> None:
    """Report the lanes for which one of these registers is undefined; once for each load or shuffle.

    absent: whether what was shuffled from an absent lane counts here, beside unwritten memory.
    """
    value = held(kernel, names)
    if value is None:
        return
    value = value.splat()
    undefined = _there(kernel, value) if absent else _unwritten(kernel, value)
    lanes = undefined.bits() & (kernel.mask if mask is None else mask)
    with kernel.ir.when(lanes.ne(0)):
        kernel.run_time("wb_s_used", value, lanes)
    told = lanes.lanes()
    for name in dict.fromkeys(names):
        if name in kernel.tracked:
            kernel.write(shadow(name), told.select(0, kernel.read(shadow(name))))


# ---------------------------------------------------------------- memory


def prepare(kernel: Kernel, instruction: Instruction, nbytes: int) -> None:
    """Before an access: no byte is unwritten, but for those that a store to local memory keeps so."""
    kernel.ir.store(unset(kernel), kernel.ir.number(vector("i32", min(nbytes, SLOT_BYTES)), 0), 64)
    if not _copies(kernel, instruction):
        return
    items = items_of(instruction.operands[1])
    size = nbytes // len(items)
    for index, item in enumerate(items):
        if item is not None and (value := _of(kernel, item)) is not None:
            lanes = _unwritten(kernel, value).bits()
            for byte in range(index * size, (index + 1) * size):
                kernel.ir.store(_byte(kernel, byte), lanes, 4)


def unset(kernel: Kernel) -> Value:
    """A place for the lanes for which each byte of an access is unwritten: a pointer."""
    return kernel.ir.room(vector("i32", SLOT_BYTES), "unset_slot")


def _copies(kernel: Kernel, instruction: Instruction) -> bool:
    """Whether this only puts a value elsewhere in a thread's own memory."""
    return instruction.opcode == "st" and "local" in instruction.modifiers and not kernel.watching.prints


def _byte(kernel: Kernel, offset: int) -> Value:
    return kernel.ir.at(unset(kernel), offset, "i32")


def loaded(kernel: Kernel, place: Reg | None, offset: int, nbytes: int, guard: Value | None) -> None:
    """After a load: the shadow of the register that gets the bytes from `offset` on."""
    if place is None or place.name not in kernel.tracked:
        return
    accessed = kernel.watching.accessed
    assert accessed is not None
    number, where = accessed
    mask = kernel.ir.load(_byte(kernel, offset), vector("i32", nbytes), 4).reduce("or")
    entry = where + offset | number << PLACE
    kernel.write(shadow(place.name), mask.lanes().select(entry, 0), guard)


# ---------------------------------------------------------------- shuffles


def shuffled(
    kernel: Kernel, instruction: Instruction, target: Reg, source: Value, taking: Value, guard: Value | None
) -> None:
    """After a shuffle: the shadow of its result, whose value lane i has from lane `source[i]`.

    taking: the lanes that take part, as each lane names them.
    """
    number = kernel.watching.place(kernel, instruction, "shuffle")
    passed = kernel.ir.i64(0)
    if (given := _of(kernel, instruction.operands[1])) is not None:
        halves = (given.splat().to("i32"), (given.splat() >> 32).to("i32"))
        low, high = (half.lanewise("wb_permute", source, result="i32").to("i64") for half in halves)
        passed = low | high << 32
    there = taking.splat() >> source & 1
    absent = source.to("i64") | (number << PLACE | ABSENT)
    kernel.write(shadow(target.name), there.ne(0).select(passed, absent), guard)
