"""Tensor cores in LLVM IR: `mma`, `wmma`, `ldmatrix`, `stmatrix` and `movmatrix`.

A product's registers are laid side by side and handed to a function of the runtime made for its shape and types.
Fragments of `wmma` are loaded and stored by the accesses that ptxas makes of them: 16-bit operands in shared memory by
`ldmatrix`, everything else by one load a register (accumulators in row order: one for two registers).
"""

from __future__ import annotations

from vgpu.isa import tensor
from vgpu.lower import memory as lower_memory
from vgpu.lower import watch
from vgpu.lower.memory import LOAD, STORE
from vgpu.ptx import Instruction, Mem, Vec
from vgpu.runtime.emit import LANES, Value
from vgpu.runtime.tensor import PREFIX

# Bytes for the registers of one instruction.
ROOM = max(sum(LANES * f.registers * f.width // 8 for f in p.fragments) for p in tensor.products())
TURNED = tuple(8 * (i % 8) + i // 8 for i in range(64))  # where each element of a transposed 8×8 matrix comes from


def tensor_core(k, instruction: Instruction) -> None:
    """Each opcode's own function."""
    opcode, words = instruction.opcode, instruction.modifiers
    if "aligned" not in words or "sync" not in words:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    if opcode in ("ldmatrix", "stmatrix") and tensor.matrices(words) is None:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    if opcode == "wmma":
        (product if "mma" in words else move)(k, instruction)
    else:
        {"mma": product, "ldmatrix": load_matrices, "stmatrix": store_matrices, "movmatrix": transpose}[opcode](
            k, instruction
        )


def whole_warp(k, instruction: Instruction) -> tuple[int, Value]:
    """The instruction's site, and the mask of its lanes: all of them, or none; part of a warp is an error."""
    e = k.e
    mask = k.guarded_mask(k.guard(instruction.guard))
    site = k.site(instruction, "warp")
    e.declarations.add("declare i32 @wb_whole(ptr, i64, i32)")
    return site, e.assign(f"call i32 @wb_whole(ptr %ctx, i64 {site}, i32 {mask.text})", "i32", False)


# ---------------------------------------------------------------- registers side by side


def room(k) -> str:
    """The place in memory where registers are laid side by side."""
    return k.e.room("tiles", ROOM)


def at(k, offset: int) -> str:
    base = room(k)
    return k.e.assign(f"getelementptr i8, ptr {base}, i64 {offset}", "ptr", False).text if offset else base


def lay(k, items, count: int, bits: int, offset: int) -> str:
    """Store the first `count` registers from `offset` on; where they begin."""
    for index, item in enumerate(items[:count]):
        value = k.e.splat(k.bits_value(item, bits))
        k.e.line(f"store {value.full} {value.text}, ptr {at(k, offset + index * LANES * bits // 8)}, align 64")
    return at(k, offset)


def pick_up(k, bits: int, offset: int) -> Value:
    return k.e.assign(f"load <{LANES} x i{bits}>, ptr {at(k, offset)}, align 64", f"i{bits}", True)


def items_of(operand) -> tuple:
    return operand.items if isinstance(operand, Vec) else (operand,)


# ---------------------------------------------------------------- products


def product(k, instruction: Instruction) -> None:
    e = k.e
    found = tensor.product(instruction.opcode, instruction.modifiers)
    if found is None:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    whole_warp(k, instruction)
    target, *sources = instruction.operands
    *given, result = found.fragments
    pointers, offset = [], 0
    for fragment, operand in zip(given, sources, strict=True):
        pointers.append(lay(k, items_of(operand), fragment.registers, fragment.width, offset))
        offset += fragment.registers * LANES * fragment.width // 8
    name = PREFIX + found.name
    e.declarations.add(f"declare void @{name}(ptr, ptr, ptr, ptr)")
    e.line(f"call void @{name}({', '.join(f'ptr {p}' for p in (*pointers, at(k, offset)))})")
    guard = k.guard(instruction.guard)
    for index, place in enumerate(items_of(target)):
        k.write(place, pick_up(k, result.width, offset + index * LANES * result.width // 8), guard)


# ---------------------------------------------------------------- wmma.load and wmma.store


def _first(k, value: Value) -> Value:
    """One lane's value: all lanes have to give the same."""
    e = k.e
    return e.assign(f"extractelement {value.full} {value.text}, i32 0", value.type, False) if value.vector else value


def _placed(k, instruction: Instruction, found: tensor.Move, memory: Mem) -> tuple[Value, Value, Value]:
    """A matrix's address, the bytes between its rows (columns), and the lanes that may go on."""
    e = k.e
    site, mask = whole_warp(k, instruction)
    address = lower_memory.address(k, memory, 64)
    stride = instruction.operands[2] if len(instruction.operands) > 2 else None
    f = found.fragment
    step = e.const("i64", found.extent) if stride is None else e.resize(k.bits_value(stride, 32), 64)
    e.declarations.add("declare i32 @wb_place(ptr, i64, i32, <32 x i64>, <32 x i64>, i64, i64, i64)")
    where, apart = e.splat(address), e.splat(step)
    mask = e.assign(
        f"call i32 @wb_place(ptr %ctx, i64 {site}, i32 {mask.text}, {where.full} {where.text}, "
        f"{apart.full} {apart.text}, i64 {found.alignment}, i64 {f.bits}, i64 {8 * found.grain - 1})", "i32", False,
    )  # fmt: skip
    step = _first(k, step)
    bytes_apart = e.bin("lshr", e.bin("mul", step, e.const("i64", f.bits)), e.const("i64", 3))
    return _first(k, address), bytes_apart, mask


def _addresses(k, address: Value, apart: Value, lines, inside) -> Value:
    """address + line·apart + bytes for each lane, as i64."""
    e = k.e
    spread = e.bin("mul", e.vector_const("i64", lines), apart)
    return e.bin("add", e.bin("add", spread, e.vector_const("i64", inside)), address)


def move(k, instruction: Instruction) -> None:
    words = instruction.modifiers
    found = tensor.move(words)
    if found is None:
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    store = "store" in words
    memory = instruction.operands[0 if store else 1]
    registers = items_of(instruction.operands[1 if store else 0])
    address, apart, mask = _placed(k, instruction, found, memory)
    f = found.fragment
    if lower_memory.space_of(instruction) == "shared" and f.bits == 16 and not f.accumulates:
        values = _load_by_rows(k, instruction, found, address, apart, mask)
    else:
        values = _one_by_one(k, instruction, found, address, apart, mask, registers if store else None)
    guard = k.guard(instruction.guard)
    if not store:
        for index, place in enumerate(registers):  # more registers than elements: they repeat
            k.write(place, values[index % f.registers], guard)


def _one_by_one(k, instruction, found: tensor.Move, address, apart, mask, stored) -> list[Value]:
    """One access for the elements that each lane has side by side in memory; gives the registers of a load."""
    e, f = k.e, found.fragment
    pair = f.in_piece == 2  # a lane's two elements of a piece are in two registers
    registers = []
    for row, column in f.pieces:
        count = 2 if pair else f.each
        runs = [range(count)] if found.along else [range(i, i + 1) for i in range(count)]
        whole = [None] * (2 if pair else 1)
        for run in runs:
            rows = [row + lane // 4 for lane in range(LANES)]
            columns = [column + lane % 4 * count + run[0] for lane in range(LANES)]
            lines, inside = (rows, columns) if found.along else (columns, rows)
            where = _addresses(k, address, apart, lines, [i * f.bits // 8 for i in inside])
            nbytes = len(run) * f.bits // 8
            if stored is not None:
                first = len(registers) + (run[0] if pair else 0)
                parts = [k.bits_value(r, f.width) for r in stored[first : first + (len(run) if pair else 1)]]
                if not pair and nbytes < 4:
                    shift = e.const("i32", run[0] * f.bits)
                    parts = [e.resize(e.bin("lshr", parts[0], shift), f.bits)]
                _access(k, instruction, where, mask, nbytes, parts)
                continue
            width = f.width if pair else 8 * nbytes
            values = _access(k, instruction, where, mask, nbytes, None, width)
            for i, value in enumerate(values):
                if pair:
                    whole[run[0] + i] = value
                else:
                    value = e.bin("shl", e.resize(value, f.width), e.const(f"i{f.width}", run[0] * f.bits))
                    whole[0] = value if whole[0] is None else e.bin("or", whole[0], value)
        registers += whole
    return registers


def _access(k, instruction, where: Value, mask: Value, nbytes: int, stored, width: int = 0) -> list[Value]:
    """Check, count and do one access of `nbytes` a lane, in words of `width` bits; `stored` are the words to store."""
    e, space = k.e, lower_memory.space_of(instruction)
    rule, kind = (STORE, "store") if stored else (LOAD, "load")
    site = k.site_pointer(k.site(instruction, kind, space, nbytes))
    check = "shared" if space == "shared" else "global"
    seen = e.resize(where, 32) if check == "shared" else where
    answer = e.assign(
        f"call i64 @wb_{'c' if k.count else 'p'}_{check}(ptr %ctx, ptr {site}, {seen.full} {seen.text}, "
        f"i32 {mask.text}, i32 {nbytes}, i32 {rule})", "i64", False,
    )  # fmt: skip
    if k.watch:
        answer = _watched(k, instruction, space, nbytes, rule, seen, answer)
    if check == "shared":  # the offset that was checked, without what lies above its 32 bits
        where = e.bin("add", e.resize(seen, 64), k.fixed["shared_base"])
    width = int(stored[0].type[1:]) if stored else width
    words = nbytes * 8 // width
    if words > 1:
        answer = e.bin("and", answer, e.const("i64", 0xFFFFFFFF))
    v, found = f"<{LANES} x i{width}>", []
    for index in range(words):
        there = e.bin("add", where, e.const("i64", index * width // 8)) if index else where
        if stored:
            value = e.splat(stored[index])
            e.declarations.add(f"declare void @wb_store{width}(<{LANES} x i64>, {v}, i64)")
            e.line(f"call void @wb_store{width}({there.full} {there.text}, {v} {value.text}, i64 {answer.text})")
        else:
            e.declarations.add(f"declare {v} @wb_load{width}(<{LANES} x i64>, i64)")
            call = f"call {v} @wb_load{width}({there.full} {there.text}, i64 {answer.text})"
            found.append(e.assign(call, f"i{width}", True))
    return found


def _load_by_rows(k, instruction, found: tensor.Move, address, apart, mask) -> list[Value]:
    """A 16-bit operand in shared memory: four pieces at a time as `ldmatrix` does."""
    e, f = k.e, found.fragment
    registers = []
    for begin in range(0, len(f.pieces), 4):
        some = f.pieces[begin : begin + 4]
        lines, inside = [0] * LANES, [0] * LANES
        for index, (row, column) in enumerate(some):
            for r in range(8):
                lines[8 * index + r] = (row if found.along else column) + r
                inside[8 * index + r] = 2 * (column if found.along else row)
        where = e.resize(_addresses(k, address, apart, lines, inside), 32)
        lanes = e.bin("and", mask, e.const("i32", (1 << 8 * len(some)) - 1))
        registers += _read_rows(k, instruction, where, lanes, len(some), not found.along)
    return registers


# ---------------------------------------------------------------- ldmatrix, stmatrix, movmatrix


def _turn(k, value: Value) -> Value:
    """An 8×8 matrix of 16-bit elements in one register, transposed."""
    e = k.e
    halves = e.assign(f"bitcast <{LANES} x i32> {value.text} to <64 x i16>", "i16", False)
    mask = ", ".join(f"i32 {i}" for i in TURNED)
    turned = e.assign(f"shufflevector <64 x i16> {halves.text}, <64 x i16> poison, <64 x i32> <{mask}>", "i16", False)
    return e.assign(f"bitcast <64 x i16> {turned.text} to <{LANES} x i32>", "i32", True)


def _checked_rows(k, instruction, where: Value, lanes: Value, rule: int, count: int) -> Value:
    """The lanes whose rows of 16 bytes lie in shared memory and are aligned; `where` are offsets."""
    e = k.e
    site = k.site_pointer(k.site(instruction, ("load", "store")[rule], "shared", 16, count))
    where = e.splat(where)
    answer = e.assign(
        f"call i64 @wb_{'c' if k.count else 'p'}_shared(ptr %ctx, ptr {site}, {where.full} {where.text}, "
        f"i32 {lanes.text}, i32 16, i32 {rule})", "i64", False,
    )  # fmt: skip
    if k.watch:
        answer = _watched(k, instruction, "shared", 16, rule, where, answer)
    return e.resize(answer, 32)


def _watched(k, instruction, space: str, nbytes: int, rule: int, where: Value, answer: Value) -> Value:
    """The answer of an access check, after the sanitizer has seen the access."""
    memory = next(operand for operand in instruction.operands if isinstance(operand, Mem))
    return watch.access(k, instruction, memory, space, nbytes, rule, where, answer)[0]


def _read_rows(k, instruction, where: Value, lanes: Value, count: int, turned: bool) -> list[Value]:
    good = _checked_rows(k, instruction, where, lanes, LOAD, count)
    _copy(k, "wb_read_rows", where, good)
    values = [pick_up(k, 32, 128 * index) for index in range(count)]
    return [_turn(k, value) for value in values] if turned else values


def _copy(k, function: str, where: Value, good: Value) -> None:
    e, where = k.e, k.e.splat(where)
    e.declarations.add(f"declare void @{function}(i64, <{LANES} x i32>, i32, ptr)")
    base = k.fixed["shared_base"]
    e.line(f"call void @{function}(i64 {base.text}, {where.full} {where.text}, i32 {good.text}, ptr {room(k)})")


def _matrices(k, instruction: Instruction, memory: Mem) -> tuple[int, Value, Value]:
    """How many matrices, the offset of each lane's row in shared memory, and the lanes that give one."""
    e = k.e
    count = tensor.matrices(instruction.modifiers)
    _, mask = whole_warp(k, instruction)
    where = lower_memory.address(k, memory, 32 if lower_memory.space_of(instruction) == "shared" else 64)
    if where.type == "i64":  # a generic address: what lies outside the shared window becomes an offset out of bounds
        wide = e.bin("sub", where, k.fixed["shared_base"])
        far = e.icmp("ugt", wide, e.const("i64", 0x7FFFFFF0))
        where = e.resize(e.select(far, e.const("i64", 0x7FFFFFF0), wide), 32)
    return count, where, e.bin("and", mask, e.const("i32", (1 << 8 * count) - 1))


def load_matrices(k, instruction: Instruction) -> None:
    target, memory = instruction.operands
    count, where, lanes = _matrices(k, instruction, memory)
    values = _read_rows(k, instruction, where, lanes, count, "trans" in instruction.modifiers)
    guard = k.guard(instruction.guard)
    for place, value in zip(items_of(target), values, strict=True):
        k.write(place, value, guard)


def store_matrices(k, instruction: Instruction) -> None:
    memory, source = instruction.operands
    count, where, lanes = _matrices(k, instruction, memory)
    for index, item in enumerate(items_of(source)[:count]):
        value = k.e.splat(k.bits_value(item, 32))
        if "trans" in instruction.modifiers:
            value = _turn(k, value)
        k.e.line(f"store {value.full} {value.text}, ptr {at(k, 128 * index)}, align 64")
    _copy(k, "wb_write_rows", where, _checked_rows(k, instruction, where, lanes, STORE, count))


def transpose(k, instruction: Instruction) -> None:
    if instruction.modifiers[-3:] != ("m8n8", "trans", "b16"):
        raise k.unsupported(f"the PTX instruction `{instruction}`")
    whole_warp(k, instruction)
    value = k.e.splat(k.bits_value(instruction.operands[1], 32))
    k.write(instruction.operands[0], _turn(k, value), k.guard(instruction.guard))


HANDLERS = {"tensor": tensor_core}
