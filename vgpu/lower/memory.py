"""Loads, stores, atomics and addresses in LLVM IR.

Each access first calls the runtime's check of its space, which answers which lanes may go on (and counts), then
moves the data. Addresses of global, constant and generic memory are host addresses; shared and local ones are
offsets into the block's and the thread's own area.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vgpu import ptx
from vgpu.ir import LANES, Value, element_bits, vector
from vgpu.ir.ramp import Ramp
from vgpu.lower import cluster, definedness, watch
from vgpu.lower.basic_blocks import items_of
from vgpu.lower.spaces import KINDS, space_of, window_of
from vgpu.ptx import Imm, Instruction, Mem, Reg, Sym, Vec
from vgpu.runtime.overwrites import ATOMIC, LOAD, STORE
from vgpu.runtime.pattern import SHARED_ELEMENT
from vgpu.storage import layout

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel
    from vgpu.lower.operands import Operands

FAR_OUTSIDE = 0x7FFFFFF0  # an offset that no shared memory has
ONE_BY_ONE = 0xFFFFFFFF  # of an answer: its lanes, which aren't side by side


# ---------------------------------------------------------------- addresses


def symbol(kernel: Operands, operand: Sym) -> Value:
    """The address of a variable: an offset for shared and local ones, else a host address (i64)."""
    name = operand.name
    if name in kernel.shared:
        return kernel.ir.i64(kernel.shared[name] + operand.offset)
    if kernel.flow.stacked and (place := kernel.local_base(name)) is not None:
        return place + operand.offset
    if name in kernel.locals:
        return kernel.ir.i64(kernel.locals[name] + operand.offset)
    if name in kernel.parameters:
        kernel.parameters_addressed = True
        return kernel.context("params") + (kernel.parameters[name] + operand.offset)
    if name in kernel.addresses:
        return kernel.variable(name) + operand.offset
    if name in kernel.module.functions:
        return kernel.ir.i64(layout.function_handles(kernel.module)[name])
    raise kernel.unsupported(f"the symbol `{name}`")


def address(kernel: Kernel, memory: Mem, bits: int) -> Value:
    """The address (or offset) that a memory operand names, as an integer of `bits`."""
    if isinstance(memory.base, Imm):
        base = kernel.ir.number(f"i{bits}", memory.base.value)
    else:
        found = kernel.read(memory.base.name) if isinstance(memory.base, Reg) else symbol(kernel, memory.base)
        base = found.to(f"i{bits}")
    return base + memory.offset if memory.offset else base


def shared_offset(kernel: Kernel, instruction: Instruction, memory: Mem) -> Value:
    """Where in the block's shared memory an operand points (i32), by the space's offsets or a generic address."""
    if any(word.split("::")[0] == "shared" for word in instruction.modifiers):
        return address(kernel, memory, 32)
    inside = address(kernel, memory, 64) - kernel.context("shared_base")
    # What lies far outside must not come back into range when it is cut to 32 bits.
    return inside.above(FAR_OUTSIDE).select(FAR_OUTSIDE, inside).to("i32")


def local_host_address(kernel: Kernel, within: Value | int) -> Value:
    """Host addresses of each lane's own copy of a local variable."""
    lanes = kernel.ir.each_lane("i64", [lane * kernel.local_bytes for lane in range(LANES)])
    return kernel.local_of_warp() + lanes + within


# ---------------------------------------------------------------- accesses


def counts_here(kernel: Kernel) -> bool:
    """Whether accesses of the basic block count as they are made; those of a loop that waits count when it is left."""
    return kernel.count and kernel.here.index not in kernel.flow.waits


def check(
    kernel: Kernel, site: Value, space: str, where: Value, mask: Value, nbytes: int, rule: int, counted: bool
) -> Value:
    """The runtime's answer about the lanes of an access (i64); `where` are its addresses or offsets."""
    name = f"wb_{'c' if counted else 'p'}_{window_of(space)}"
    i32 = kernel.ir.i32
    return kernel.run_time(name, site, where.splat(), mask, i32(nbytes), i32(rule), result="i64")


def access(
    kernel: Kernel, instruction: Instruction, memory: Mem, nbytes: int, rule: int, values: Sequence[Value] | None = (),
    element: int = 0,
) -> tuple[Value, Value]:  # fmt: skip
    """Check (and count) an access: host addresses, and the runtime's answer about the lanes (i64).

    The addresses are one scalar where all lanes access the same place. values: what a store writes, element by
    element; element: the bytes of one element of a load.
    """
    space = space_of(instruction)
    mask = kernel.lanes_that_run(instruction)
    site = kernel.new_site(instruction, KINDS[rule], space, nbytes)
    where = offsets = address(kernel, memory, 32 if space in ("shared", "cluster") else 64)
    if space == "cluster":
        where = offsets = cluster.hosts(kernel, where, mask)
    answer = check(kernel, site, space, where, mask, nbytes, rule, counts_here(kernel))
    if space == "const" and counts_here(kernel):
        kernel.not_global(mask)
    count_when_left(kernel, instruction, where, nbytes)
    if space == "shared":
        where = where.to("i64") + kernel.context("shared_base")
    elif space == "local":
        where = local_host_address(kernel, where)
    if kernel.watch:
        stored = None if values is None else elements(where, values)
        answer, kernel.place = watch.access(
            kernel, instruction, memory, space, nbytes, rule, offsets, answer, stored, element=element
        )
    return where, answer


def elements(where: Value, values: Sequence[Value]) -> list[tuple[Value, Value]]:
    """(addresses, value) of each element that an access moves, 32 lanes each."""
    sizes = [element_bits(v.kind) // 8 for v in values]
    places = [where + i * n if i else where for i, n in enumerate(sizes)]
    return [(at.splat(), v.splat()) for at, v in zip(places, values, strict=True)]


def count_when_left(kernel: Kernel, instruction: Instruction, where: Value, nbytes: int) -> None:
    """In a loop that waits: have the load counted for the lanes that leave it."""
    if not kernel.count or kernel.here.index not in kernel.flow.waits:
        return
    space, lanes, guard = space_of(instruction), where.splat(), kernel.guard(instruction.guard)
    number = kernel.site(instruction, "load", space, nbytes)
    site = kernel.site_pointer(number)

    def count(leaving: Value) -> None:
        mask = leaving if guard is None else leaving & kernel.guarded_mask(guard)
        check(kernel, site, space, lanes, mask, nbytes, LOAD, counted=True)
        if space == "const":
            kernel.not_global(mask)

    kernel.postponed.append((number, count))


def _fused(kernel: Kernel, instruction: Instruction, memory: Mem, bits: int, value: Value | None) -> Value | None:
    """A load (value None) or store of 4 or 8 bytes a lane in one call; None where it needs the long way."""
    space, loads = space_of(instruction), value is None
    if space in ("local", "cluster") or (kernel.watch and not watch.fuses(kernel, instruction, space)):
        return None
    mask = kernel.lanes_that_run(instruction)
    where = address(kernel, memory, 32 if space == "shared" else 64)
    if loads and not (where.vector or kernel.watch):
        return None
    kind = "load" if loads else "store"
    site = kernel.new_site(instruction, kind, space, bits // 8)
    # Of elements that lie side by side the address of the first is enough.
    row = where if not kernel.watch and isinstance(where, Ramp) and where.step == bits // 8 else None
    if not (row or kernel.watch) and (found := _following(kernel, instruction, memory, bits, site, loads)) is not None:
        return found
    if loads:
        count_when_left(kernel, instruction, where, bits // 8)
    if kernel.watch:
        return watch.element(kernel, instruction, memory, bits, site, where, mask, value, counts_here(kernel))
    given = row.base if row else where.splat()
    function = f"wb_{'c' if counts_here(kernel) else 'p'}_{window_of(space)}_{'row_' if row else ''}{kind}{bits}"
    if value is not None:
        return kernel.run_time(function, site, given, mask, value.splat())
    found = kernel.run_time(function, site, given, mask, result=vector(f"i{bits}"))
    if space == "const" and counts_here(kernel):
        kernel.not_global(mask)
    return found


def _following(
    kernel: Kernel, instruction: Instruction, memory: Mem, bits: int, site: Value, loads: bool
) -> Value | None:
    """A load whose base an access before had in its basic block: their offsets from lane to lane are the same."""
    space = space_of(instruction)
    if space == "const" or not isinstance(memory.base, Reg) or instruction.guard is not None:
        return None
    base, window = kernel.read(memory.base.name), window_of(space)
    if not base.vector or (kernel.count and not counts_here(kernel)):
        return None
    key = (window, base.text, kernel.mask.text)
    if key not in kernel.leaders:
        kernel.leaders[key] = site, None
        return None
    leader, kept = kernel.leaders[key]
    if not loads:
        return None
    if kept is None:
        kept = kernel.ir.spread(base.to("i32" if window == "shared" else "i64"))
        kernel.leaders[key] = leader, kept
    function = f"wb_{'c' if counts_here(kernel) else 'p'}_{window}_next{bits}"
    given = (site, leader, kept, memory.offset, kernel.mask)
    return kernel.run_time(function, *given, result=vector(f"i{bits}"))


# ---------------------------------------------------------------- loads and stores


def element(instruction: Instruction) -> tuple[str, int]:
    """(type of one element, number of elements) of a load or store."""
    lanes = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    return instruction.modifiers[-1], lanes


def load(kernel: Kernel, instruction: Instruction) -> None:
    destination, memory = instruction.operands[:2]
    kind, lanes = element(instruction)
    nbytes, bits = ptx.TYPE_BYTES[kind], 8 * ptx.TYPE_BYTES[kind]
    places = items_of(destination)
    guard = kernel.guard(instruction.guard)
    if space_of(instruction) == "param" and isinstance(memory.base, Sym) and memory.base.name in kernel.parameters:
        offset = kernel.parameters[memory.base.name] + memory.base.offset + memory.offset
        for index, place in enumerate(places):
            at = kernel.ir.at(kernel.table("params"), offset + index * nbytes)
            _deliver(kernel, place, kernel.ir.load(at, f"i{bits}", constant=True), kind, guard)
        return
    followed = kernel.watch and space_of(instruction) not in ("param", "const")
    if lanes == 1 and bits in (32, 64) and (value := _fused(kernel, instruction, memory, bits, None)):
        _deliver(kernel, places[0], value, kind, guard)
        if followed:
            definedness.loaded(kernel, places[0], 0, nbytes, guard)
        return
    where, answer = access(kernel, instruction, memory, nbytes * lanes, LOAD, element=nbytes)
    if lanes > 1:  # the elements of a lane lie side by side, so those of the warp do not
        answer = answer & ONE_BY_ONE
    for index, place in enumerate(places):
        if place is None:
            continue
        at = where + index * nbytes if index else where
        _deliver(kernel, place, load_element(kernel, at, answer, bits), kind, guard)
        if followed:
            definedness.loaded(kernel, place, index * nbytes, nbytes, guard)


def load_element(kernel: Kernel, at: Value, answer: Value, bits: int) -> Value:
    """One element a lane (or for all lanes) of those that an access check let through; of 128 bits in two halves."""
    if bits == 128:
        answer = answer & ONE_BY_ONE
        low, high = (load_element(kernel, at + offset, answer, 64) for offset in (0, 8))
        return low.to("i128") | high.to("i128") << 64
    if at.vector:
        return kernel.ir.call(vector(f"i{bits}"), f"wb_load{bits}", at, answer)
    return kernel.ir.call(f"i{bits}", f"wb_once{bits}", at, answer)


def _deliver(kernel: Kernel, place: Reg | None, value: Value, kind: str, guard: Value | None) -> None:
    if place is not None:
        kernel.write(place, value.to(f"i{kernel.bits(place.name)}", signed=kind[0] == "s"), guard)


def complete(kernel: Kernel, instruction: Instruction, nbytes: int) -> None:
    """`st.async` and `red.async`: tell the mbarrier, the last operand, of the bytes that each lane has written.

    They are written at once, which is one of the times at which a GPU may do it.
    """
    site = kernel.new_site(instruction, "mbarrier", "shared", 8)
    offsets = address(kernel, instruction.operands[-1], 32).splat()
    none, amount = kernel.ir.i32(0).splat(), kernel.ir.i32(-nbytes).splat()
    mask = kernel.lanes_that_run(instruction)
    kernel.run_time("wb_barrier_update", site, offsets, mask, none, amount, kernel.ir.i32(0), result=vector("i64"))


def store(kernel: Kernel, instruction: Instruction) -> None:
    memory, source = instruction.operands[:2]
    kind, lanes = element(instruction)
    nbytes, bits = ptx.TYPE_BYTES[kind], 8 * ptx.TYPE_BYTES[kind]
    items = items_of(source)
    if lanes == 1 and bits in (32, 64) and _fused(kernel, instruction, memory, bits, kernel.bits_value(items[0], bits)):
        return
    values = [kernel.bits_value(item, bits) for item in items if item is not None] if bits <= 64 else None
    number = len(kernel.sites)
    where, answer = access(kernel, instruction, memory, nbytes * lanes, STORE, values)
    # Every lane has its own local memory; elsewhere the runtime counts lanes that overwrite one another.
    site = kernel.site_pointer(number) if counts_here(kernel) and space_of(instruction) != "local" else None
    if lanes > 1:
        answer = _apart(answer, site)
    where = where.splat()
    for index, item in enumerate(items):
        if item is not None:
            at = (where + index * nbytes).splat() if index else where
            store_element(kernel, at, answer, kernel.lanes_value(item, bits), site)
    if kernel.watch and values is not None:
        watch.stored(kernel, kernel.place, elements(where, values), answer)
    if "async" in instruction.modifiers:
        complete(kernel, instruction, nbytes * lanes)


def _apart(answer: Value, site: Value | None) -> Value:
    """The answer about elements that lie side by side in a lane: those of the warp do not, but lanes may share one."""
    return answer & (ONE_BY_ONE if site is None else SHARED_ELEMENT << 32 | ONE_BY_ONE)


def store_element(kernel: Kernel, at: Value, answer: Value, value: Value, site: Value | None = None) -> None:
    """One element a lane; at `site`, where there is one, the runtime counts lanes that overwrite one another."""
    bits = element_bits(value.kind)
    if bits == 128:
        answer = _apart(answer, site)
        for offset in (0, 8):
            half = (value >> 8 * offset).to("i64")
            store_element(kernel, at + offset, answer, half, site)
    elif site is not None:
        kernel.ir.call("void", f"wb_told_store{bits}", site, at, value, answer)
    else:
        kernel.ir.call("void", f"wb_store{bits}", at, value, answer)


# ---------------------------------------------------------------- atomics


# Operation and type -> the runtime's name. A type is named in full, or by the kind of number that it is of.
ATOMICS = {
    ("add", "u"): "add", ("add", "s"): "add", ("add", "f"): "fadd", ("add", "f16"): "hadd", ("add", "bf16"): "badd",
    ("add", "f16x2"): "hadd", ("add", "bf16x2"): "badd",
    ("min", "u"): "umin", ("min", "s"): "smin", ("max", "u"): "umax", ("max", "s"): "smax",
    ("and", "b"): "and", ("or", "b"): "or", ("xor", "b"): "xor", ("inc", "u"): "inc", ("dec", "u"): "dec",
    ("exch", "b"): "exch", ("cas", "b"): "cas", ("cas", "u"): "cas", ("cas", "s"): "cas",
}  # fmt: skip
ATOMIC_WORDS = {word for word, _ in ATOMICS}
HALVES = ("f16x2", "bf16x2")  # two elements of 16 bits


def atomic_name(operation: str | None, kind: str) -> str | None:
    """The runtime's name for an atomic operation on a type; None for what PTX doesn't have."""
    by_kind = "" if "16" in kind and kind[0] in "fb" and kind != "b16" else kind[0]
    return ATOMICS.get((operation or "", kind)) or ATOMICS.get((operation or "", by_kind))


def atomic(kernel: Kernel, instruction: Instruction) -> None:
    """`atom` and `red`: the lanes one after the other, in their order."""
    operands = list(instruction.operands)
    destination = None if instruction.opcode == "red" else operands.pop(0)
    if {"L2::cache_hint", "async"} & {*instruction.modifiers}:
        operands.pop()  # the policy, or the mbarrier
    memory, values = operands[0], operands[1:]
    kind, nbytes = instruction.modifiers[-1], ptx.TYPE_BYTES[instruction.modifiers[-1]]
    operation = next((m for m in instruction.modifiers if m in ATOMIC_WORDS), None)
    name = atomic_name(operation, kind)
    several = values[0].items if isinstance(values[0], Vec) else ()
    if name is None or (nbytes == 16 and name not in ("cas", "exch")) or (several and operation != "add"):
        raise kernel.unsupported(f"the atomic `{instruction}`")
    guard = kernel.guard(instruction.guard)
    where, answer = access(kernel, instruction, memory, nbytes * max(1, len(several)), ATOMIC)
    where, mask = where.splat(), answer.to("i32")
    updates = [[value] for value in several] or [values]
    places = destination.items if isinstance(destination, Vec) else [destination] * len(updates)
    function = f"wb_{'own' if space_of(instruction) == 'shared' else 'atom'}_{name}"
    for index, (given, place) in enumerate(zip(updates, places, strict=True)):
        at = (where + index * nbytes).splat() if index else where
        whole = [kernel.bits_value(value, 8 * nbytes) for value in given]
        if kind in HALVES:
            low, high = (
                _update(
                    kernel, function, (at + 2 * half).splat() if half else at, [v >> 16 * half for v in whole], mask, 16
                )
                for half in (0, 1)
            )
            before = low.to("i32") | high.to("i32") << 16
        else:
            before = _update(kernel, function, at, whole, mask, 8 * nbytes)
        if place is not None:
            _deliver(kernel, place, before, "b32" if kind in HALVES else kind, guard)
    if "async" in instruction.modifiers:
        complete(kernel, instruction, nbytes)


def _update(kernel: Kernel, function: str, where: Value, values: list[Value], mask: Value, bits: int) -> Value:
    """One element a lane: what was there before."""
    given = [value.to(f"i{bits}").splat() for value in values]
    return kernel.ir.call(vector(f"i{bits}"), f"{function}_{bits}", where, *given, mask)


# ---------------------------------------------------------------- generic addresses


def convert_address(kernel: Kernel, instruction: Instruction) -> None:
    """`cvta`: between a space's own addresses and generic ones."""
    destination, source = instruction.operands
    space = space_of(instruction)
    value, op = kernel.bits_value(source, 64), "sub" if "to" in instruction.modifiers else "add"
    # The address of a kernel's parameter is a host address already, as those in global and constant memory are.
    if space in ("shared", "cluster"):
        if kernel.maps:
            value = cluster.converted(kernel, value, short=op == "sub")
        else:
            value = value.binary(op, kernel.context("shared_base"))
    elif space == "local":
        value = value.binary(op, local_host_address(kernel, 0))
    kernel.write(destination, value, kernel.guard(instruction.guard))


def inspect_address(kernel: Kernel, instruction: Instruction) -> None:
    """`isspacep`: whether a generic address lies in a space."""
    destination, source = instruction.operands
    value, space = kernel.bits_value(source, 64), space_of(instruction)
    shared = (value - kernel.context("shared_base")).below(kernel.context("shared_bytes"))
    if space == "cluster" or (kernel.maps and space == "global"):
        shared = cluster.inside(kernel, value)
    total = kernel.context("warps") * (LANES * kernel.local_bytes)
    local = (value - kernel.context("local_base")).below(total)
    if space == "const":
        result = kernel.ir.number("i1", 0)
    else:
        result = {"shared": shared, "cluster": shared, "local": local}.get(space) or ~(shared | local)
    kernel.write(destination, result, kernel.guard(instruction.guard))


HANDLERS = {
    "load": load,
    "store": store,
    "atomic": atomic,
    "address": convert_address,
    "inspect": inspect_address,
}
