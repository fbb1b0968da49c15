"""Tensor cores in LLVM IR: `mma`, `wmma`, `ldmatrix`, `stmatrix` and `movmatrix`.

A product's registers are laid side by side and handed to a function of the runtime made for its shape and types.
Fragments of `wmma` are loaded and stored by the accesses that ptxas makes of them: 16-bit operands in shared memory by
`ldmatrix`, everything else by one load a register (accumulators in row order: one for two registers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from vgpu.ir import LANES, Value, element_bits, vector
from vgpu.isa import tensor
from vgpu.lower import memory as lower_memory
from vgpu.lower import watch
from vgpu.lower.basic_blocks import items_of
from vgpu.lower.memory import ONE_BY_ONE
from vgpu.lower.spaces import KINDS, space_of
from vgpu.ptx import Instruction, Mem, Operand
from vgpu.runtime.overwrites import LOAD, STORE
from vgpu.runtime.tensor import PREFIX

if TYPE_CHECKING:
    from vgpu.lower.calls import Calls as Kernel

# Bytes for the registers of one instruction.
ROOM = max(sum(LANES * f.registers * f.width // 8 for f in p.fragments) for p in tensor.products())
TRANSPOSED = tuple(8 * (i % 8) + i // 8 for i in range(64))  # where each element of a transposed 8×8 matrix comes from


def tensor_core(kernel: Kernel, instruction: Instruction) -> None:
    """Each opcode's own function."""
    opcode, words = instruction.opcode, instruction.modifiers
    if "aligned" not in words or "sync" not in words:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    if opcode in ("ldmatrix", "stmatrix") and tensor.rows(opcode, words) is None:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    if opcode == "wmma":
        (product if "mma" in words else move)(kernel, instruction)
    else:
        {"mma": product, "ldmatrix": load_matrices, "stmatrix": store_matrices, "movmatrix": transpose}[opcode](
            kernel, instruction
        )


def whole_warp(kernel: Kernel, instruction: Instruction) -> tuple[int, Value]:
    """The instruction's site, and the mask of its lanes: all of them, or none; part of a warp is an error."""
    mask = kernel.lanes_that_run(instruction)
    site = kernel.site(instruction, "warp")
    return site, kernel.run_time("wb_whole", site, mask, result="i32")


# ---------------------------------------------------------------- registers side by side


def tiles(kernel: Kernel, offset: int = 0) -> Value:
    """The place in memory where registers are laid side by side."""
    base = kernel.ir.room(vector("i8", ROOM), "tiles")
    return kernel.ir.at(base, offset) if offset else base


def lay(kernel: Kernel, items: Sequence[Operand], count: int, bits: int, offset: int) -> Value:
    """Store the first `count` registers from `offset` on; where they begin."""
    for index, item in enumerate(items[:count]):
        value = kernel.lanes_value(item, bits)
        kernel.ir.store(tiles(kernel, offset + index * LANES * bits // 8), value, 64)
    return tiles(kernel, offset)


def pick_up(kernel: Kernel, bits: int, offset: int) -> Value:
    return kernel.ir.load(tiles(kernel, offset), vector(f"i{bits}"), 64)


# ---------------------------------------------------------------- products


def product(kernel: Kernel, instruction: Instruction) -> None:
    found = tensor.product(instruction.opcode, instruction.modifiers)
    if found is None:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    whole_warp(kernel, instruction)
    target, *sources = instruction.operands
    *of_sources, result = found.fragments
    pointers, offset = [], 0
    for fragment, operand in zip(of_sources, sources[:3], strict=True):
        pointers.append(lay(kernel, items_of(operand), fragment.registers, fragment.width, offset))
        offset += fragment.registers * LANES * fragment.width // 8
    scales = []
    for words, selector in zip(sources[3::2], sources[4::2], strict=True):
        byte, thread = (_first(kernel.bits_value(item, 16)).to("i32") for item in items_of(selector))
        scales += [kernel.lanes_value(words, 32), byte, thread]
    given = (*pointers, tiles(kernel, offset), *scales)
    if found.may_cut:
        narrow = kernel.context("narrow_sums").ne(0)
        with kernel.ir.when(narrow):
            kernel.ir.call("void", PREFIX + replace(found, cut=True).name, *given)
        with kernel.ir.when(narrow ^ 1):
            kernel.ir.call("void", PREFIX + found.name, *given)
    else:
        kernel.ir.call("void", PREFIX + found.name, *given)
    guard = kernel.guard(instruction.guard)
    for index, place in enumerate(items_of(target)):
        kernel.write(place, pick_up(kernel, result.width, offset + index * LANES * result.width // 8), guard)


# ---------------------------------------------------------------- wmma.load and wmma.store


def _first(value: Value) -> Value:
    """One lane's value: all lanes have to give the same."""
    return value.lane(0) if value.vector else value


def _placed(kernel: Kernel, instruction: Instruction, found: tensor.Move, memory: Mem) -> tuple[Value, Value, Value]:
    """A matrix's address, the bytes between its rows (columns), and the lanes that may go on."""
    site, mask = whole_warp(kernel, instruction)
    address = lower_memory.address(kernel, memory, 64)
    stride = instruction.operands[2] if len(instruction.operands) > 2 else None
    bits = found.unit
    step = kernel.ir.i64(found.extent) if stride is None else kernel.bits_value(stride, 32).to("i64")
    given = (site, mask, address.splat(), step.splat(), found.alignment, bits, 8 * found.grain - 1)
    mask = kernel.run_time("wb_place", *given, result="i32")
    return _first(address), _first(step) * bits >> 3, mask


def _addresses(kernel: Kernel, address: Value, apart: Value, lines: Sequence[int], inside: Sequence[int]) -> Value:
    """address + line·apart + bytes for each lane, as i64."""
    return kernel.ir.each_lane("i64", lines) * apart + kernel.ir.each_lane("i64", inside) + address


def move(kernel: Kernel, instruction: Instruction) -> None:
    words = instruction.modifiers
    found = tensor.move(words)
    if found is None:
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    store = "store" in words
    memory = instruction.operands[0 if store else 1]
    registers = items_of(instruction.operands[1 if store else 0])
    address, apart, mask = _placed(kernel, instruction, found, memory)
    f = found.fragment
    if space_of(instruction) == "shared" and f.bits == 16 and not f.accumulates:
        values = _load_by_rows(kernel, instruction, found, address, apart, mask)
    else:
        values = _one_by_one(kernel, instruction, found, address, apart, mask, registers if store else None)
    guard = kernel.guard(instruction.guard)
    if not store:
        for index, place in enumerate(registers):  # more registers than elements: they repeat
            kernel.write(place, values[index % f.registers], guard)


def _one_by_one(
    kernel: Kernel, instruction: Instruction, found: tensor.Move, address: Value, apart: Value, mask: Value,
    stored: Sequence[Operand] | None,
) -> list[Value]:  # fmt: skip
    """One access for the elements that each lane has side by side in memory; gives the registers of a load."""
    f = found.fragment
    pair = f.in_piece == 2  # a lane's two elements of a piece are in two registers
    registers: list[Value] = []
    for number, (row, column) in enumerate(f.pieces):
        count = 2 if pair else f.each
        runs = [range(count)] if found.along else [range(i, i + 1) for i in range(count)]
        parts: list[Value] = []
        for run in runs:
            rows = [row + lane // 4 for lane in range(LANES)]
            columns = [column + lane % 4 * count + run[0] for lane in range(LANES)]
            lines, inside = (rows, columns) if found.along else (columns, rows)
            where = _addresses(kernel, address, apart, lines, [i * f.bits // 8 for i in inside])
            nbytes = len(run) * f.bits // 8
            if stored is not None:
                first = 2 * number + run[0] if pair else number
                values = [kernel.bits_value(r, f.width) for r in stored[first : first + (len(run) if pair else 1)]]
                if not pair and nbytes < 4:
                    values = [(values[0] >> run[0] * f.bits).to(f"i{f.bits}")]
                _access(kernel, instruction, where, mask, nbytes, values)
                continue
            values = _access(kernel, instruction, where, mask, nbytes, None, f.width if pair else 8 * nbytes)
            parts += values if pair else [values[0].to(f"i{f.width}") << run[0] * f.bits]
        registers += parts if pair else [reduce(or_, parts)] if parts else []
    return registers


def _access(
    kernel: Kernel, instruction: Instruction, where: Value, mask: Value, nbytes: int, stored: list[Value] | None,
    width: int = 0,
) -> list[Value]:  # fmt: skip
    """Check, count and do one access of `nbytes` a lane, in words of `width` bits; `stored` are the words to store."""
    space = space_of(instruction)
    rule = STORE if stored else LOAD
    site = kernel.new_site(instruction, KINDS[rule], space, nbytes)
    shared = space == "shared"
    seen = where.to("i32") if shared else where
    answer = lower_memory.check(kernel, site, "shared" if shared else "global", seen, mask, nbytes, rule, kernel.count)
    if kernel.watch:
        answer = _watched(kernel, instruction, space, nbytes, rule, seen, answer)
    if shared:  # the offset that was checked, without what lies above its 32 bits
        where = seen.to("i64") + kernel.context("shared_base")
    width = element_bits(stored[0].kind) if stored else width
    words = nbytes * 8 // width
    if words > 1:
        answer = answer & ONE_BY_ONE
    places = [where + index * width // 8 if index else where for index in range(words)]
    if stored:
        for place, value in zip(places, stored, strict=True):
            lower_memory.store_element(kernel, place, answer, value.splat())
        return []
    return [lower_memory.load_element(kernel, place, answer, width) for place in places]


def _load_by_rows(
    kernel: Kernel, instruction: Instruction, found: tensor.Move, address: Value, apart: Value, mask: Value
) -> list[Value]:
    """A 16-bit operand in shared memory: four pieces at a time as `ldmatrix` does."""
    f = found.fragment
    registers = []
    for begin in range(0, len(f.pieces), 4):
        some = f.pieces[begin : begin + 4]
        lines, inside = [0] * LANES, [0] * LANES
        for index, (row, column) in enumerate(some):
            for r in range(8):
                lines[8 * index + r] = (row if found.along else column) + r
                inside[8 * index + r] = 2 * (column if found.along else row)
        where = _addresses(kernel, address, apart, lines, inside).to("i32")
        lanes = mask & (1 << 8 * len(some)) - 1
        registers += _read_rows(kernel, instruction, where, lanes, len(some), not found.along)
    return registers


# ---------------------------------------------------------------- ldmatrix, stmatrix, movmatrix


def _transposed(value: Value) -> Value:
    """An 8×8 matrix of 16-bit elements in one register, transposed."""
    return value.bitcast(vector("i16", 64)).shuffle(None, TRANSPOSED).bitcast(value.kind)


def _checked_rows(kernel: Kernel, instruction: Instruction, where: Value, lanes: Value, rule: int, count: int) -> Value:
    """The lanes whose rows of 16 bytes lie in shared memory and are aligned; `where` are offsets."""
    site = kernel.new_site(instruction, KINDS[rule], "shared", 16, count)
    answer = lower_memory.check(kernel, site, "shared", where, lanes, 16, rule, kernel.count)
    if kernel.watch:
        answer = _watched(kernel, instruction, "shared", 16, rule, where.splat(), answer)
    return answer.to("i32")


def _watched(
    kernel: Kernel, instruction: Instruction, space: str, nbytes: int, rule: int, where: Value, answer: Value
) -> Value:
    """The answer of an access check, after the sanitizer has seen the access."""
    memory = next(operand for operand in instruction.operands if isinstance(operand, Mem))
    return watch.access(kernel, instruction, memory, space, nbytes, rule, where, answer)[0]


def _read_rows(
    kernel: Kernel, instruction: Instruction, where: Value, lanes: Value, count: int, transposed: bool
) -> list[Value]:
    good = _checked_rows(kernel, instruction, where, lanes, LOAD, count)
    _copy(kernel, "wb_read_rows", where, good)
    values = [pick_up(kernel, 32, 128 * index) for index in range(count)]
    return [_transposed(value) for value in values] if transposed else values


def _copy(kernel: Kernel, function: str, where: Value, good: Value) -> None:
    kernel.ir.call("void", function, kernel.context("shared_base"), where.splat(), good, tiles(kernel))


def _rows(kernel: Kernel, instruction: Instruction, memory: Mem) -> tuple[tensor.Rows, Value, Value]:
    """What is moved, the offset of each lane's row in shared memory, and the lanes that give one."""
    found = tensor.rows(instruction.opcode, instruction.modifiers)
    assert found is not None, "tensor_core() has refused all others"
    _, mask = whole_warp(kernel, instruction)
    lanes = mask & (1 << found.rows * found.matrices) - 1
    return found, lower_memory.shared_offset(kernel, instruction, memory), lanes


def load_matrices(kernel: Kernel, instruction: Instruction) -> None:
    target, memory = instruction.operands
    found, where, lanes = _rows(kernel, instruction, memory)
    if found.packed or found.transposed == 8:
        values = _read_bytes(kernel, instruction, where, lanes, found)
    else:
        values = _read_rows(kernel, instruction, where, lanes, found.matrices, found.transposed == 16)
    guard = kernel.guard(instruction.guard)
    for place, value in zip(items_of(target), values, strict=True):
        kernel.write(place, value, guard)


# For each byte of a register in all lanes, the byte among the rows of its matrix that it comes from, if the matrix is
# transposed: lane 4g + t holds the rows 4t to 4t + 3 of column g, and (8 to add) in its next register of column g + 8.
BYTES_OF_COLUMNS = tuple(16 * (4 * (i // 4 % 4) + i % 4) + i // 16 for i in range(128))
# `stmatrix` takes them from where the accumulators of a product stand: the rows 2t and 2t + 1 of columns g and g + 8.
STORED_COLUMNS = tuple(16 * (2 * (i // 4 % 4) + i % 2) + i // 16 + 8 * (i // 2 % 2) for i in range(128))


def _read_bytes(
    kernel: Kernel, instruction: Instruction, where: Value, lanes: Value, found: tensor.Rows
) -> list[Value]:
    """The registers of a `ldmatrix` of elements of a byte and less."""
    size = 16 * found.rows
    good = _checked_rows(kernel, instruction, where, lanes, LOAD, found.matrices * found.rows // 8)
    _copy(kernel, "wb_read_rows", where, good)
    registers = []
    for index in range(found.matrices):
        data = kernel.ir.load(tiles(kernel, size * index), vector("i8", size), 16)
        data = _unpacked(kernel, data, found.packed) if found.packed else data
        for column in range(0, 8 * found.registers, 8):
            order = [place + column for place in BYTES_OF_COLUMNS] if found.transposed else range(128)
            registers.append(data.shuffle(None, order).bitcast(vector("i32")))
    return registers


def _unpacked(kernel: Kernel, data: Value, bits: int) -> Value:
    """Rows of 16 bytes, of which 16 elements of some bits fill the first ones, to one byte for each element."""
    places = [(start, bits * i // 8, bits * i % 8) for start in range(0, data.count, 16) for i in range(16)]
    low, high = (data.shuffle(None, [start + byte + more for start, byte, _ in places]).to("i16") for more in (0, 1))
    shifts = kernel.ir.each_lane("i16", [shift for _, _, shift in places])
    return ((low | high << 8) >> shifts & (1 << bits) - 1).to("i8")


def store_matrices(kernel: Kernel, instruction: Instruction) -> None:
    memory, source = instruction.operands
    found, where, lanes = _rows(kernel, instruction, memory)
    for index, item in enumerate(items_of(source)):
        value = kernel.lanes_value(item, 32)
        if found.transposed == 8:
            order = sorted(range(128), key=STORED_COLUMNS.__getitem__)
            value = value.bitcast(vector("i8", 128)).shuffle(None, order).bitcast(value.kind)
        elif found.transposed:
            value = _transposed(value)
        kernel.ir.store(tiles(kernel, 128 * index), value, 64)
    _copy(kernel, "wb_write_rows", where, _checked_rows(kernel, instruction, where, lanes, STORE, found.matrices))


def transpose(kernel: Kernel, instruction: Instruction) -> None:
    if instruction.modifiers[-3:] != ("m8n8", "trans", "b16"):
        raise kernel.unsupported(f"the PTX instruction `{instruction}`")
    whole_warp(kernel, instruction)
    value = kernel.lanes_value(instruction.operands[1], 32)
    kernel.write(instruction.operands[0], _transposed(value), kernel.guard(instruction.guard))
