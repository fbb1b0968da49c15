"""The reference interpreter's functions for instructions without arithmetic, one for each kind.

Each takes the warp, the frame of the lanes that execute the instruction, the instruction and their mask. The caller
then advances the lanes' program counters, except for the kinds in MOVES.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from vgpu import isa
from vgpu.base import printf
from vgpu.base.errors import DeviceAssert, KernelError, OutOfBounds, Unsupported
from vgpu.ptx import Call, Instruction, Pair, Sym
from vgpu.ptx import Vec as Vector
from vgpu.reference import allocation, bulk_copy, cluster, lanes, mbarrier, tensor_memory, texture, warpgroup
from vgpu.reference import memory as mem
from vgpu.reference.warp import LANES, Barrier, Frame, Warp

Action: TypeAlias = Callable[[Warp, Frame, Instruction, np.ndarray], None]
U32, PRED = isa.TYPES["u32"], isa.TYPES["pred"]


def _element(instruction: Instruction) -> isa.Type:
    """The type of one element; 16-bit floats travel as their bits."""
    name = mem.value_type(instruction.modifiers)
    if name in isa.PACKED:
        return isa.register_type(name)
    kind = isa.TYPES[name]
    return isa.TYPES["b16"] if kind.kind == "h" else kind


# ---------------------------------------------------------------- memory


SPINNING = {"volatile", "acquire", "relaxed", "mmio"}


def load(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    if SPINNING.intersection(instruction.modifiers):
        warp.block.machine.note_spin(warp)
    target, pointer = instruction.operands[:2]
    kind, space = _element(instruction), mem.space_of(instruction.modifiers)
    targets = target.items if isinstance(target, Vector) else (target,)
    nbytes = kind.bits // 8 * len(targets)
    addresses = warp.addresses(frame, pointer)
    if space == "param":
        data = np.zeros((LANES, nbytes), np.uint8)
        for lane in np.flatnonzero(mask).tolist():
            data[lane] = _passed(warp, frame, instruction, lane, int(addresses[lane]), nbytes)
    else:
        data = mem.read(mem.access(warp, instruction, mask, addresses, space, "load", nbytes), mask, nbytes)
    columns = data.view(kind.dtype)
    for index, item in enumerate(targets):
        warp.write(frame, item, columns[:, index], kind, mask)


def _passed(warp: Warp, frame: Frame, instruction: Instruction, lane: int, start: int, nbytes: int) -> np.ndarray:
    """A view of `nbytes` bytes of a lane's parameters at an offset, which may come from a register."""
    if start + nbytes > frame.parameters.shape[1]:
        where = warp.where(instruction, lane, start)
        raise OutOfBounds(f"access of {nbytes} bytes outside param memory, {warp.position(instruction, lane)}", **where)
    return frame.parameters[lane, start : start + nbytes]


def store(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    pointer, source = instruction.operands[:2]
    kind, space = _element(instruction), mem.space_of(instruction.modifiers)
    if space not in ("param", "local"):
        warp.block.machine.writes += 1
    sources = source.items if isinstance(source, Vector) else (source,)
    values = [warp.read(frame, item, kind) for item in sources]
    data = np.ascontiguousarray(np.stack(values, axis=1)).view(np.uint8)
    addresses = warp.addresses(frame, pointer)
    if space == "param":
        for lane in np.flatnonzero(mask).tolist():
            _passed(warp, frame, instruction, lane, int(addresses[lane]), data.shape[1])[:] = data[lane]
        return
    mem.write(mem.access(warp, instruction, mask, addresses, space, "store", data.shape[1]), mask, data)
    if "async" in instruction.modifiers:
        mbarrier.written(warp, frame, instruction, mask, data.shape[1])


def atomic(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    operands = list(instruction.operands)
    target = operands.pop(0) if instruction.opcode == "atom" else None
    if {"L2::cache_hint", "async"} & {*instruction.modifiers}:
        operands.pop()
    kind, space = _element(instruction), mem.space_of(instruction.modifiers)
    addresses = warp.addresses(frame, operands[0])
    if isinstance(operands[-1], Vector):  # each element of the vector separately
        if "add" not in instruction.modifiers:
            raise Unsupported(f"{instruction} is not known to the virtual GPU.")
        items, size = operands[-1].items, kind.bits // 8
        hosts = mem.access(warp, instruction, mask, addresses, space, "atomic", size * len(items))
        targets = target.items if target is not None else [None] * len(items)
        values = [warp.read(frame, item, kind) for item in items]
        for index, (item, value) in enumerate(zip(targets, values, strict=True)):
            old = mem.atomic(instruction, hosts + np.uint64(size * index), mask, [value])
            warp.write(frame, item, old, kind, mask)
        return
    values = [warp.read(frame, operand, kind) for operand in operands[1:]]
    hosts = mem.access(warp, instruction, mask, addresses, space, "atomic", kind.bits // 8)
    before = mem.read(hosts, mask, kind.bits // 8)
    old = mem.atomic(instruction, hosts, mask, values)
    if (mem.read(hosts, mask, kind.bits // 8) != before).any():
        warp.block.machine.writes += 1
        warp.tries += 1
    else:  # such as a compare-and-swap that found the lock taken
        warp.block.machine.note_spin(warp)
    warp.write(frame, target, old, kind, mask)
    if "async" in instruction.modifiers:
        mbarrier.written(warp, frame, instruction, mask, kind.bits // 8)


def address(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`cvta`: between a window's offsets and generic addresses."""
    target, source = instruction.operands
    kind, space = _element(instruction), mem.space_of(instruction.modifiers)
    value, to = warp.read(frame, source, kind), "to" in instruction.modifiers
    if space in ("shared", "cluster"):
        value = cluster.short(warp, value) if to else cluster.hosts(warp, value & np.uint64(0xFFFFFFFF))
    elif (window := warp.windows(space)) is not None:
        value = value - window[0] if to else value + window[0]
    warp.write(frame, target, value, kind, mask)


def inspect(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`isspacep`: whether a generic address lies in a space."""
    target, source = instruction.operands
    value, space = warp.read(frame, source, isa.TYPES["u64"]), mem.space_of(instruction.modifiers)
    inside = {}
    for name in ("shared", "local", "param"):
        base, size = warp.window(name)
        inside[name] = (value >= base) & (value - base < size)
    inside["const"], inside["cluster"] = warp.block.in_constants(value), cluster.inside(warp, value)
    inside["global"] = ~(inside["cluster"] | inside["local"] | inside["param"] | inside["const"])
    warp.write(frame, target, inside[space], PRED, mask)


def fence(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """Without caches, every write is visible at once. A loop that waits for other threads contains a fence."""
    warp.tries += 1


# ---------------------------------------------------------------- the flow of control; these move the lanes


def branch(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    warp.pc[mask] = frame.code.labels[instruction.operands[0].name]


def indexed_branch(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    index, names = instruction.operands
    starts = np.array([frame.code.labels[one.name] for one in names.items])
    chosen = np.minimum(warp.read(frame, index, U32), len(starts) - 1)  # past the end: PTX leaves open where it goes
    warp.pc[mask] = starts[chosen[mask]]


def leave(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    if instruction.opcode == "exit":
        warp.live &= ~mask
    else:
        warp.leave(frame, mask)


def trap(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    lane = int(np.argmax(mask))
    raise DeviceAssert(f"The kernel trapped, {warp.position(instruction, lane)}", **warp.where(instruction, lane))


def call(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    details: Call = instruction.operands[0]
    if isinstance(details.target, Sym):
        name = details.target.name
        if name in BUILTINS:
            BUILTINS[name](warp, frame, details, mask)
            warp.pc[mask] += 1
        else:
            warp.enter(frame, name, details, mask)
        return
    handles = warp.read(frame, details.target, isa.TYPES["u64"])
    for handle in np.unique(handles[mask]):
        warp.enter_through(frame, int(handle), details, mask & (handles == handle))


def _argument(frame: Frame, details: Call, index: int, lane: int, name: str = "u64") -> int:
    start = frame.code.param_offsets[details.arguments[index]]
    kind = isa.TYPES[name]
    return int(frame.parameters[lane, start : start + kind.bits // 8].view(kind.dtype)[0])


def _return(frame: Frame, details: Call, lane: int, value: int) -> None:
    if details.returns:
        start = frame.code.param_offsets[details.returns[0]]
        frame.parameters[lane, start : start + 4] = np.array([value], np.uint32).view(np.uint8)


def _print(warp: Warp, frame: Frame, details: Call, mask: np.ndarray) -> None:
    for lane in np.flatnonzero(mask).tolist():
        fmt = mem.text(warp, lane, _argument(frame, details, 0, lane))
        buffer = _argument(frame, details, 1, lane)
        nbytes = min(printf.argument_bytes(fmt), mem.readable(warp, lane, buffer))
        arguments = ctypes.string_at(buffer, nbytes) if nbytes else b""
        warp.block.output(printf.render(fmt, arguments, functools.partial(mem.text, warp, lane)))
        _return(frame, details, lane, printf.argument_count(fmt))


def _assert(warp: Warp, frame: Frame, details: Call, mask: np.ndarray) -> None:
    lane = int(np.argmax(mask))
    message, function = (_argument(frame, details, index, lane) for index in (0, 3))
    text = [mem.text(warp, lane, at).decode(errors="replace") if at else "?" for at in (message, function)]
    line = _argument(frame, details, 2, lane, "u32")
    where = warp.where(details, lane) | {"line": line}
    raise DeviceAssert(f"Assertion `{text[0]}` failed in {text[1]}, line {line}, thread {where['thread']}", **where)


BUILTINS = {"vprintf": _print, "__assertfail": _assert, **allocation.BUILTINS}


def barrier(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """Make the lanes wait until the block releases them. `bar.warp.sync` only reconverges a warp's lanes."""
    words, operands = instruction.modifiers, list(instruction.operands)
    if "warp" in words:
        warp.pc[mask] += 1
        return
    if "cluster" in words:
        cluster.barrier(warp, words, mask)
        return
    target = operands.pop(0) if "red" in words else None
    votes = warp.read(frame, operands.pop(), PRED) if "red" in words else np.zeros(LANES, bool)
    numbers = [warp.read(frame, operand, U32) for operand in operands] or [np.zeros(LANES, np.uint32)]
    for lane in np.flatnonzero(mask).tolist():
        count = int(numbers[1][lane]) if len(numbers) > 1 else None
        number, line = int(numbers[0][lane]), warp.line(lane)
        if number > 15:
            text = f"barrier {number} of a block, which has 0 to 15, {warp.position(instruction, lane)}"
            raise KernelError(text, **warp.where(instruction, lane))
        parked = Barrier(number, count, instruction, line, bool(votes[lane]), frame, target)
        if "arrive" in words:
            warp.block.arrived[number] = warp.block.arrived.get(number, 0) + 1
        else:
            warp.waiting[lane] = parked
    warp.pc[mask] += 1


# ---------------------------------------------------------------- between lanes


def _outputs(operand: object) -> tuple[object, object]:
    return (operand.first, operand.second) if isinstance(operand, Pair) else (operand, None)


def members(warp: Warp, frame: Frame, instruction: Instruction) -> np.ndarray | None:
    """Each lane's member mask of a `.sync` instruction; None for an instruction without one."""
    kind = isa.KINDS.get(instruction.opcode)
    if kind == "tensor" or (kind == "tensor_memory" and "sync" in instruction.modifiers):
        return np.full(LANES, 0xFFFFFFFF, np.uint32)
    if "sync" not in instruction.modifiers or instruction.opcode not in CONVERGING:
        return None
    if instruction.opcode in ("bar", "barrier") and "warp" not in instruction.modifiers:
        return None
    return warp.read(frame, instruction.operands[-1], U32)


CONVERGING = {"shfl", "vote", "match", "redux", "elect", "bar", "barrier"}


def _teams(
    warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The active lanes by their member mask: for each mask (lanes that name it, its members)."""
    named = members(warp, frame, instruction)
    if named is None:
        yield mask, mask
        return
    for wanted in np.unique(named[mask]):
        yield mask & (named == wanted), mask & ((wanted >> np.arange(LANES, dtype=np.uint32) & 1) != 0)


def shuffle(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    target, source, b, c, *_ = instruction.operands
    value, inside = _outputs(target)
    mode = next(word for word in instruction.modifiers if word in ("up", "down", "bfly", "idx"))
    given, lane, clamp = (warp.read(frame, operand, U32) for operand in (source, b, c))
    received, within = lanes.shuffle(mode, np.where(mask, given, np.uint32(0)), lane, clamp)
    warp.write(frame, value, received, U32, mask)
    warp.write(frame, inside, within, PRED, mask)


def vote(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    if instruction.opcode == "activemask":
        answer = np.full(LANES, lanes.mask_of(mask), np.uint32)
        warp.write(frame, instruction.operands[0], answer, U32, mask)
        return
    target, predicate = instruction.operands[:2]
    mode = next(word for word in instruction.modifiers if word in ("all", "any", "uni", "ballot"))
    said = warp.read(frame, predicate, PRED)
    for team, group in _teams(warp, frame, instruction, mask):
        warp.write(frame, target, lanes.vote(mode, said, group), U32 if mode == "ballot" else PRED, team)


def match(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    value, same = _outputs(instruction.operands[0])
    mode = "all" if "all" in instruction.modifiers else "any"
    source = warp.read(frame, instruction.operands[1], _element(instruction))
    for team, group in _teams(warp, frame, instruction, mask):
        found, equal = lanes.match(mode, source, group)
        warp.write(frame, value, found, U32, team)
        warp.write(frame, same, equal, PRED, team)


def redux(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    kind = _element(instruction)
    operation = next(word for word in instruction.modifiers if word in lanes.REDUCTIONS)
    source = warp.read(frame, instruction.operands[1], kind)
    for team, group in _teams(warp, frame, instruction, mask):
        if kind.is_float:
            answer = lanes.reduce_floats(operation, source, group, set(instruction.modifiers))
        else:
            answer = lanes.reduce(operation, source, group)
        warp.write(frame, instruction.operands[0], answer, kind, team)


def elect(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    value, chosen = _outputs(instruction.operands[0])
    for team, group in _teams(warp, frame, instruction, mask):
        leader, is_leader = lanes.elect(group)
        warp.write(frame, value, leader, U32, team)
        warp.write(frame, chosen, is_leader, PRED, team)


def unsupported(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    raise Unsupported(f"The instruction {instruction} is not known to the virtual GPU.")


ACTIONS: dict[str, Action] = {
    "load": load, "store": store, "atomic": atomic, "address": address, "inspect": inspect, "branch": branch,
    "indexed_branch": indexed_branch,
    "leave": leave, "trap": trap, "call": call, "barrier": barrier, "fence": fence, "shuffle": shuffle,
    "vote": vote, "match": match, "redux": redux, "elect": elect, "unsupported": unsupported,
    **warpgroup.ACTIONS, **tensor_memory.ACTIONS,
    **bulk_copy.ACTIONS, **mbarrier.ACTIONS, **cluster.ACTIONS,
    **texture.ACTIONS,
}  # fmt: skip
MOVES = {"branch", "indexed_branch", "leave", "call", "barrier"}  # kinds that set the program counters themselves
