"""Loads, stores, atomics and addresses in LLVM IR.

Each access first calls the runtime's check of its space, which answers which lanes may go on (and counts), then
moves the data. Addresses of global, constant and generic memory are host addresses; shared and local ones are
offsets into the block's and the thread's own area.
"""

from __future__ import annotations

from vgpu import ptx
from vgpu.lower import definedness, watch
from vgpu.ptx import Imm, Instruction, Mem, Reg, Sym, Vec
from vgpu.runtime.emit import LANES, Value
from vgpu.runtime.pattern import SHARED_ELEMENT
from vgpu.storage import layout

SPACES = ("global", "shared", "local", "const", "param")
LOAD, STORE, ATOMIC = 0, 1, 2


def space_of(instruction: Instruction) -> str:
    """The state space that the modifiers name, or "generic"."""
    words = [m.split("::")[0] for m in instruction.modifiers]
    return next((w for w in words if w in SPACES), "generic")


def symbol(k, operand: Sym) -> Value:
    """The address of a variable: an offset for shared and local ones, else a host address (i64)."""
    e, name = k.e, operand.name
    if name in k.shared:
        return e.const("i64", k.shared[name] + operand.offset)
    if k.flow.stacked and (place := k.local_base(name)) is not None:
        return e.bin("add", place, e.const("i64", operand.offset))
    if name in k.locals:
        return e.const("i64", k.locals[name] + operand.offset)
    if name in k.parameters:
        k.parameters_addressed = True
        return e.bin("add", k.fixed["params"], e.const("i64", k.parameters[name] + operand.offset))
    if name in k.addresses:
        return e.bin("add", k.variable(name), e.const("i64", operand.offset))
    if name in k.module.functions:
        return e.const("i64", layout.function_handles(k.module)[name])
    raise k.unsupported(f"the symbol `{name}`")


def address(k, memory: Mem, bits: int) -> Value:
    """The address (or offset) that a memory operand names, as an integer of `bits`."""
    e = k.e
    if isinstance(memory.base, Reg):
        base = e.resize(k.read(memory.base.name), bits)
    elif isinstance(memory.base, Imm):
        base = e.const(f"i{bits}", memory.base.value)
    else:
        base = e.resize(symbol(k, memory.base), bits)
    return e.bin("add", base, e.const(f"i{bits}", memory.offset)) if memory.offset else base


def local_host_address(k, within: Value) -> Value:
    """Host addresses of each lane's own copy of a local variable."""
    e = k.e
    lanes = e.vector_const("i64", [lane * k.local_bytes for lane in range(LANES)])
    return e.bin("add", e.bin("add", k.fixed["local_warp"], lanes), within)


def access(
    k, instruction: Instruction, memory: Mem, nbytes: int, rule: int, values=(), element: int = 0
) -> tuple[Value, Value]:
    """Check (and count) an access: host addresses, and the runtime's answer about the lanes (i64).

    The addresses are one scalar where all lanes access the same place. values: what a store writes, element by
    element; element: the bytes of one element of a load.
    """
    e, space = k.e, space_of(instruction)
    guard = k.guard(instruction.guard)
    mask = k.guarded_mask(guard)
    kind = ("load", "store", "atomic")[rule]
    site = k.site_pointer(k.site(instruction, kind, space, nbytes))
    letter = "c" if counts_here(k) else "p"
    bits = 32 if space == "shared" else 64
    check = {"shared": "shared", "local": "local"}.get(space, "global")
    where = address(k, memory, bits)
    lanes = e.splat(where)
    call = (
        f"call i64 @wb_{letter}_{check}(ptr %ctx, ptr {site}, {lanes.full} {lanes.text}, "
        f"i32 {mask.text}, i32 {nbytes}, i32 {rule})"
    )
    answer, offsets = e.assign(call, "i64", False), where
    if space == "const" and counts_here(k):
        k.not_asked(mask)
    count_when_left(k, instruction, where, nbytes)
    if space == "shared":
        where = e.bin("add", e.resize(where, 64), k.fixed["shared_base"])
    elif space == "local":
        where = local_host_address(k, where)
    if k.watch:
        elements = None if values is None else spread(e, where, values)
        answer, k.place = watch.access(
            k, instruction, memory, space, nbytes, rule, offsets, answer, elements, element=element
        )
    return where, answer


def spread(e, where: Value, values) -> list[tuple[Value, Value]]:
    """(addresses, value) of each element that an access moves, 32 lanes each."""
    sizes = [int(v.type[1:]) // 8 for v in values]
    places = [e.bin("add", where, e.const("i64", i * n)) if i else where for i, n in enumerate(sizes)]
    return [(e.splat(at), e.splat(v)) for at, v in zip(places, values, strict=True)]


def counts_here(k) -> bool:
    """Whether accesses of the basic block count as they are made; those of a loop that waits count when it is left."""
    return k.count and k.here.index not in k.flow.waits


def count_when_left(k, instruction: Instruction, where: Value, nbytes: int) -> None:
    """In a loop that waits: have the load counted for the lanes that leave it."""
    if not k.count or k.here.index not in k.flow.waits:
        return
    e, space = k.e, space_of(instruction)
    check = {"shared": "shared", "local": "local"}.get(space, "global")
    lanes, guard = e.splat(where), k.guard(instruction.guard)
    number = k.site(instruction, "load", space, nbytes)
    site = k.site_pointer(number)

    def count(leaving: Value) -> None:
        mask = leaving if guard is None else e.bin("and", leaving, k.guarded_mask(guard))
        call = f"call i64 @wb_c_{check}(ptr %ctx, ptr {site}, {lanes.full} {lanes.text}, i32 {mask.text}, "
        e.assign(f"{call}i32 {nbytes}, i32 {LOAD})", "i64", False)
        if space == "const":
            k.not_asked(mask)

    k.asked.append((number, count))


def _fused(k, instruction: Instruction, memory: Mem, bits: int, value: Value | None) -> Value | None:
    """A load (value None) or store of 4 or 8 bytes a lane in one call; None where it needs the long way."""
    e, space = k.e, space_of(instruction)
    if space == "local" or k.watch:
        return None
    mask = k.guarded_mask(k.guard(instruction.guard))
    where = address(k, memory, 32 if space == "shared" else 64)
    if value is None and not where.vector:
        return None
    kind = "load" if value is None else "store"
    site = k.site_pointer(k.site(instruction, kind, space, bits // 8))
    where = e.splat(where)
    if value is None:
        count_when_left(k, instruction, where, bits // 8)
    function = f"wb_{'c' if counts_here(k) else 'p'}_{'shared' if space == 'shared' else 'global'}_{kind}{bits}"
    arguments = f"ptr %ctx, ptr {site}, {where.full} {where.text}, i32 {mask.text}"
    types = f"ptr, ptr, {where.full}, i32"
    v = f"<{LANES} x i{bits}>"
    if value is None:
        e.declarations.add(f"declare {v} @{function}({types})")
        value = e.assign(f"call {v} @{function}({arguments})", f"i{bits}", True)
        if space == "const" and counts_here(k):
            k.not_asked(mask)
        return value
    value = e.splat(value)
    e.declarations.add(f"declare void @{function}({types}, {v})")
    e.line(f"call void @{function}({arguments}, {v} {value.text})")
    return value


def element(instruction: Instruction) -> tuple[str, int]:
    """(type of one element, number of elements) of a load or store."""
    lanes = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    return instruction.modifiers[-1], lanes


def load(k, instruction: Instruction) -> None:
    e = k.e
    destination, memory = instruction.operands[:2]
    kind, lanes = element(instruction)
    bits = 8 * ptx.TYPE_BYTES[kind]
    places = destination.items if isinstance(destination, Vec) else (destination,)
    guard = k.guard(instruction.guard)
    if space_of(instruction) == "param" and isinstance(memory.base, Sym) and memory.base.name in k.parameters:
        offset = k.parameters[memory.base.name] + memory.base.offset + memory.offset
        for index, place in enumerate(places):
            p = e.assign(f"getelementptr i8, ptr %params, i64 {offset + index * bits // 8}", "ptr", False)
            value = e.assign(f"load i{bits}, ptr {p.text}, align 1, !invariant.load !0", f"i{bits}", False)
            _deliver(k, place, value, kind, guard)
        return
    if lanes == 1 and bits in (32, 64) and (value := _fused(k, instruction, memory, bits, None)):
        _deliver(k, places[0], value, kind, guard)
        return
    where, answer = access(k, instruction, memory, bits // 8 * lanes, LOAD, element=bits // 8)
    if lanes > 1:  # the elements of a lane lie side by side, so those of the warp do not
        answer = e.bin("and", answer, e.const("i64", 0xFFFFFFFF))
    for index, place in enumerate(places):
        if place is None:
            continue
        at = e.bin("add", where, e.const("i64", index * bits // 8)) if index else where
        _deliver(k, place, _load_words(k, at, answer, bits), kind, guard)
        if k.watch and space_of(instruction) not in ("param", "const"):
            definedness.loaded(k, place, index * bits // 8, bits // 8, guard)


def _load_words(k, at: Value, answer: Value, bits: int) -> Value:
    """One element a lane (or for all lanes); one of 128 bits in two halves."""
    e = k.e
    if bits == 128:
        answer = e.bin("and", answer, e.const("i64", 0xFFFFFFFF))
        low, high = (_load_words(k, e.bin("add", at, e.const("i64", offset)), answer, 64) for offset in (0, 8))
        return e.bin("or", e.resize(low, 128), e.bin("shl", e.resize(high, 128), e.const("i128", 64)))
    if at.vector:
        function = f"wb_load{bits}"
        e.declarations.add(f"declare <{LANES} x i{bits}> @{function}(<{LANES} x i64>, i64)")
        call = f"call <{LANES} x i{bits}> @{function}({at.full} {at.text}, i64 {answer.text})"
        return e.assign(call, f"i{bits}", True)
    e.declarations.add(f"declare i{bits} @wb_once{bits}(i64, i64)")
    return e.assign(f"call i{bits} @wb_once{bits}(i64 {at.text}, i64 {answer.text})", f"i{bits}", False)


def _deliver(k, place, value: Value, kind: str, guard) -> None:
    if place is None:
        return
    have = k.bits(place.name)
    k.write(place, k.e.resize(value, have, signed=kind[0] == "s"), guard)


def store(k, instruction: Instruction) -> None:
    e = k.e
    memory, source = instruction.operands[:2]
    kind, lanes = element(instruction)
    bits = 8 * ptx.TYPE_BYTES[kind]
    items = source.items if isinstance(source, Vec) else (source,)
    if lanes == 1 and bits in (32, 64) and _fused(k, instruction, memory, bits, k.bits_value(items[0], bits)):
        return
    values = [k.bits_value(item, bits) for item in items if item is not None] if bits <= 64 else None
    number = len(k.sites)
    where, answer = access(k, instruction, memory, bits // 8 * lanes, STORE, values)
    tells = counts_here(k) and space_of(instruction) != "local"  # every lane has its own local memory
    site = k.site_pointer(number) if tells else ""
    if lanes > 1:
        answer = _apart(e, answer, site)
    where = e.splat(where)
    for index, item in enumerate(items):
        if item is None:
            continue
        at = e.splat(e.bin("add", where, e.const("i64", index * bits // 8))) if index else where
        _store_words(k, at, answer, e.splat(k.bits_value(item, bits)), bits, site)
    if k.watch and values is not None:
        watch.stored(k, k.place, spread(e, where, values), answer)


def _apart(e, answer: Value, site: str) -> Value:
    """The answer about elements that lie side by side in a lane: those of the warp do not, but lanes may share one."""
    return e.bin("and", answer, e.const("i64", SHARED_ELEMENT << 32 | 0xFFFFFFFF if site else 0xFFFFFFFF))


def _store_words(k, at: Value, answer: Value, value: Value, bits: int, site: str) -> None:
    """One element a lane; the runtime tells `site`, where it has a name, of lanes that overwrite one another."""
    e = k.e
    if bits == 128:
        answer = _apart(e, answer, site)
        for offset in (0, 8):
            half = e.resize(e.bin("lshr", value, e.const("i128", 8 * offset)), 64)
            _store_words(k, e.bin("add", at, e.const("i64", offset)), answer, half, 64, site)
        return
    if site:
        function = f"wb_told_store{bits}"
        e.declarations.add(f"declare void @{function}(ptr, <{LANES} x i64>, <{LANES} x i{bits}>, i64)")
        e.line(f"call void @{function}(ptr {site}, {at.full} {at.text}, {value.full} {value.text}, i64 {answer.text})")
        return
    function = f"wb_store{bits}"
    e.declarations.add(f"declare void @{function}(<{LANES} x i64>, <{LANES} x i{bits}>, i64)")
    e.line(f"call void @{function}({at.full} {at.text}, {value.full} {value.text}, i64 {answer.text})")


ATOMIC_NAMES = {  # (operation, kind of type) -> name in the runtime
    ("add", "u"): "add", ("add", "s"): "add", ("add", "f"): "fadd", ("add", "h"): "hadd", ("add", "b16"): "badd",
    ("min", "u"): "umin", ("min", "s"): "smin", ("max", "u"): "umax", ("max", "s"): "smax",
    ("and", "b"): "and", ("or", "b"): "or", ("xor", "b"): "xor", ("exch", "b"): "exch",
    ("inc", "u"): "inc", ("dec", "u"): "dec",
}  # fmt: skip
ATOMIC_WORDS = {name for name, _ in ATOMIC_NAMES} | {"cas"}


def atomic(k, instruction: Instruction) -> None:
    """`atom` and `red`: lanes take their turns in lane order."""
    e = k.e
    operands = list(instruction.operands)
    destination = None if instruction.opcode == "red" else operands.pop(0)
    if "L2::cache_hint" in instruction.modifiers:
        operands.pop()  # the policy
    memory, values = operands[0], operands[1:]
    operation = next((m for m in instruction.modifiers if m in ATOMIC_WORDS), None)
    kind = instruction.modifiers[-1]
    if kind in ("f16x2", "bf16x2"):
        name, bits, halves = {"f16x2": "hadd", "bf16x2": "badd"}[kind], 16, 2
    else:
        key = "b16" if kind == "bf16" else "h" if kind == "f16" else kind[0]
        name, bits, halves = ATOMIC_NAMES.get((operation, key)), 8 * ptx.TYPE_BYTES[kind], 1
    if operation == "cas":
        name = "cas"
    several = values[0].items if isinstance(values[0], Vec) else ()
    if (
        name is None
        or (bits == 128 and name not in ("cas", "exch"))
        or (name == "cas" and halves == 2)
        or (several and operation != "add")
    ):
        raise k.unsupported(f"the atomic `{instruction}`")
    guard = k.guard(instruction.guard)
    size = bits * halves // 8
    where, answer = access(k, instruction, memory, size * max(1, len(several)), ATOMIC)
    where, mask = e.splat(where), e.resize(answer, 32)
    turns = [[value] for value in several] or [values]
    places = destination.items if isinstance(destination, Vec) else [destination] * len(turns)
    for index, (given, place) in enumerate(zip(turns, places, strict=True)):
        at = e.splat(e.bin("add", where, e.const("i64", index * size))) if index else where
        whose = "own" if space_of(instruction) == "shared" else "atom"
        old = _update(k, f"{whose}_{name}", bits, halves, at, given, mask)
        if place is not None:
            _deliver(k, place, old, kind if halves == 1 else "b32", guard)


def _update(k, name: str, bits: int, halves: int, where: Value, values, mask: Value) -> Value:
    """One element a lane: what was there before."""
    e = k.e
    function, v = f"wb_{name}_{bits}", f"<{LANES} x i{bits}>"
    e.declarations.add(f"declare {v} @{function}(<{LANES} x i64>, {', '.join([v] * len(values))}, i32)")
    olds = []
    for half in range(halves):
        at = e.splat(e.bin("add", where, e.const("i64", 2))) if half else where
        given = []
        for value in values:
            whole = k.bits_value(value, bits * halves)
            given.append(
                e.splat(e.resize(e.bin("lshr", whole, e.const(whole.type, 16 * half)), bits) if halves > 1 else whole)
            )
        arguments = ", ".join(f"{g.full} {g.text}" for g in given)
        olds.append(
            e.assign(f"call {v} @{function}({at.full} {at.text}, {arguments}, i32 {mask.text})", f"i{bits}", True)
        )
    if halves == 1:
        return olds[0]
    return e.bin("or", e.resize(olds[0], 32), e.bin("shl", e.resize(olds[1], 32), e.const("i32", 16)))


def convert_address(k, instruction: Instruction) -> None:
    """`cvta`: between a space's own addresses and generic ones."""
    e = k.e
    destination, source = instruction.operands
    space = space_of(instruction)
    value = k.bits_value(source, 64)
    if isinstance(source, Sym) and space == "param":
        pass  # the address of a kernel parameter is a host address already
    elif space == "shared":
        op = "sub" if "to" in instruction.modifiers else "add"
        value = e.bin(op, value, k.fixed["shared_base"])
    elif space == "local":
        own = local_host_address(k, e.const("i64", 0))
        value = e.bin("sub" if "to" in instruction.modifiers else "add", value, own)
    k.write(destination, value, k.guard(instruction.guard))


def inspect_address(k, instruction: Instruction) -> None:
    """`isspacep`: whether a generic address lies in a space."""
    e = k.e
    destination, source = instruction.operands
    value, space = k.bits_value(source, 64), space_of(instruction)

    def inside(base: Value, nbytes: Value) -> Value:
        return e.icmp("ult", e.bin("sub", value, base), nbytes)

    shared = inside(k.fixed["shared_base"], k.context("shared_bytes"))
    total = e.bin("mul", k.context("warps"), e.const("i64", LANES * k.local_bytes))
    local = inside(k.fixed["local_base"], total)
    answers = {"shared": lambda: shared, "local": lambda: local, "const": lambda: e.const("i1", 0)}
    result = answers.get(space, lambda: e.flip(e.bin("or", shared, local)))()
    k.write(destination, result, k.guard(instruction.guard))


HANDLERS = {
    "load": load,
    "store": store,
    "atomic": atomic,
    "address": convert_address,
    "inspect": inspect_address,
}
