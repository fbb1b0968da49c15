"""Tensor cores of the reference interpreter: gather fragments into matrices, multiply, and scatter the result.

The layout of fragments follows the figures of NVIDIA's "PTX ISA" (sections "Matrix fragments for mma.m16n8k16" and
following): `element` gives the row and column of one element of a lane's fragment. A float sum, of all products and C,
is exact and rounded once; hardware leaves its order and rounding open. So results of two implementations agree within
(k + 1) · 2^-24 · (Σ|a·b| + |c|), with 2^-53 for f64, and an f16 result is rounded once more.
"""

from __future__ import annotations

import ctypes
from fractions import Fraction

import numpy as np

from vgpu import isa
from vgpu.base.errors import Misaligned, PartialWarp, Unsupported
from vgpu.base.precision import fp8_kind
from vgpu.isa import tensor
from vgpu.ptx import Instruction, Mem
from vgpu.ptx import Vec as Vector
from vgpu.reference import memory as mem
from vgpu.reference.warp import LANE, LANES, Frame, Warp

GROUP, MEMBER = LANE >> 2, LANE & 3  # "groupID" and "threadID_in_group" of the manual


def element(f: tensor.Fragment, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Row and column (of A, B, C as they are multiplied) of element `index` of each lane's fragment: two arrays."""
    if f.accumulates:
        pair, i = index // 2, index % 2
        down = pair % (f.rows // 8) * 8
        right = pair // (f.rows // 8) * 8
        return GROUP + down, MEMBER * 2 + i + right
    each = f.each
    register, i = divmod(index, each)
    if f.role == "a":
        down, right = register % (f.rows // 8) * 8, register // (f.rows // 8) * 4 * each
        return GROUP + down, MEMBER * each + i + right
    # B: k runs within the group of four, its columns are the groups; f.columns is k.
    steps = f.columns // (4 * each)
    return MEMBER * each + i + register % steps * 4 * each, GROUP + register // steps * 8


def size(f: tensor.Fragment) -> int:
    """Elements of one lane, without repetitions."""
    return f.rows * f.columns // LANES


def shape(f: tensor.Fragment) -> tuple[int, int]:
    return (f.columns, f.rows) if f.role == "b" else (f.rows, f.columns)


# ---------------------------------------------------------------- bits and values


def _float(code: int, exponent_bits: int, mantissa_bits: int) -> float:
    """The value of a code with a sign, of a format whose largest exponent is no exception."""
    mantissa, exponent = code % (1 << mantissa_bits), code >> mantissa_bits & (1 << exponent_bits) - 1
    bias = (1 << exponent_bits - 1) - 1
    size = mantissa + (1 << mantissa_bits) * (exponent > 0)
    value = size * 2.0 ** (max(exponent, 1) - bias - mantissa_bits)
    return -value if code >> exponent_bits + mantissa_bits & 1 else value


def _e4m3(code: int) -> float:
    return float("nan") if code & 127 == 127 else _float(code, 4, 3)


def _e5m2(code: int) -> float:
    if code >> 2 & 31 == 31:
        return float("nan") if code & 3 else float("-inf" if code >> 7 else "inf")
    return _float(code, 5, 2)


TABLES = {  # the values of all bytes, or of all four bits
    "e4m3": np.array([_e4m3(code) for code in range(256)]),
    "e5m2": np.array([_e5m2(code) for code in range(256)]),
    "e3m2": np.array([_float(code & 63, 3, 2) for code in range(256)]),
    "e2m3": np.array([_float(code & 63, 2, 3) for code in range(256)]),
    "e2m1c": np.array([_float(code >> 2 & 15, 2, 1) for code in range(256)]),
    "e2m1": np.array([_float(code, 2, 1) for code in range(16)]),
    "ue8m0": np.array([2.0 ** (code - 127) for code in range(255)] + [float("nan")]),
    "ue4m3": np.array([_e4m3(code & 127) for code in range(256)]),
}


def values(kind: str, bits: np.ndarray) -> np.ndarray:
    """Numbers (float64, or Python integers) of raw bits."""
    bits = np.asarray(bits, np.uint64)
    if kind in TABLES:
        return TABLES[kind][bits.astype(int)]
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    if kind == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    if kind == "tf32":
        return (bits.astype(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    if kind == "f32":
        return bits.astype(np.uint32).view(np.float32).astype(np.float64)
    if kind == "f64":
        return bits.view(np.float64)
    width = tensor.BITS[kind]
    whole = bits.astype(np.int64)
    return np.where((kind[0] == "s") & (whole >> (width - 1) != 0), whole - (1 << width), whole)


def raw(kind: str, numbers: np.ndarray) -> np.ndarray:
    """Raw bits of numbers, rounded to nearest."""
    if kind == "f16":
        return numbers.astype(np.float16).view(np.uint16).astype(np.uint64)
    if kind == "f32":
        return numbers.astype(np.float32).view(np.uint32).astype(np.uint64)
    if kind == "f64":
        return numbers.astype(np.float64).view(np.uint64)
    return (numbers.astype(np.int64) & 0xFFFFFFFF).astype(np.uint64)


def _items(operand: object) -> tuple[object, ...]:
    return operand.items if isinstance(operand, Vector) else (operand,)


def gather(warp: Warp, frame: Frame, f: tensor.Fragment, operand: object) -> np.ndarray:
    """The raw bits of a matrix, from the registers of the warp."""
    registers = [warp.read(frame, item, isa.TYPES[f"b{f.width}"]).astype(np.uint64) for item in _items(operand)]
    matrix = np.zeros(shape(f), np.uint64)
    for index in range(size(f)):
        register, position = divmod(index, f.each)
        matrix[element(f, index)] = registers[register] >> np.uint64(position * f.bits) & np.uint64((1 << f.bits) - 1)
    return matrix


def scatter(
    warp: Warp, frame: Frame, f: tensor.Fragment, operand: object, matrix: np.ndarray, mask: np.ndarray
) -> None:
    """Write each lane's part of a matrix of raw bits to its registers; further registers repeat it."""
    count = max(1, size(f) // f.each)
    registers = [np.zeros(LANES, np.uint64) for _ in range(count)]
    for index in range(size(f)):
        register, position = divmod(index, f.each)
        registers[register] |= matrix[element(f, index)] << np.uint64(position * f.bits)
    kind = isa.TYPES[f"b{f.width}"]
    for index, item in enumerate(_items(operand)):
        warp.write(frame, item, registers[index % count].astype(kind.dtype), kind, mask)


# ---------------------------------------------------------------- products


def multiply(
    p: tensor.Product, a: np.ndarray, b: np.ndarray, c: np.ndarray,
    scale_a: np.ndarray | float = 1.0, scale_b: np.ndarray | float = 1.0,
) -> np.ndarray:  # fmt: skip
    """Raw bits of (A · scale_a)(B · scale_b) + C, from raw bits; the scales are numbers, of the shapes of A and B."""
    if p.bitwise:
        pairs = a[:, :, None] ^ b[None] if p.bitwise == "xor" else a[:, :, None] & b[None]
        return raw(p.d, np.bitwise_count(pairs).sum(axis=1, dtype=np.int64) + values(p.c, c))
    a, b, c = values(p.a, a), values(p.b, b), values(p.c, c)
    if p.scales:
        a, b = a * scale_a, b * scale_b
    if tensor.FAMILIES[p.a][1] == "imma":
        total = a.astype(np.int64) @ b.astype(np.int64) + c
        return raw(p.d, np.clip(total, -(2**31), 2**31 - 1) if p.saturates else total)
    with np.errstate(all="ignore"):
        if p.a == "f64":
            total = np.empty((p.m, p.n))
            for i in range(p.m):
                for j in range(p.n):
                    exact = np.isfinite(a[i]).all() and np.isfinite(b[:, j]).all() and np.isfinite(c[i, j])
                    if exact:
                        products = (Fraction(x) * Fraction(y) for x, y in zip(a[i], b[:, j], strict=True))
                        total[i, j] = float(sum(products, Fraction(c[i, j])))
                    else:
                        total[i, j] = np.sum([*(a[i] * b[:, j]), c[i, j]])
            return raw(p.d, total)
        # Products of narrow types are exact in float64; their sum is not always, but it is far closer than float32.
        terms = np.concatenate([a[:, :, None] * b[None], c[:, None]], axis=1)
        total = terms.sum(axis=1)
        if p.may_cut and fp8_kind() == "hopper":
            largest = np.abs(terms).max(axis=1, keepdims=True)
            unit = np.ldexp(1.0, np.maximum(np.frexp(largest)[1] - 1, 14 - 127) - 13)
            cut = (np.trunc(terms / unit) * unit).sum(axis=1)
            total = np.where(np.isfinite(total), cut, total)
        return raw(p.d, total)


def product(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    p = tensor.product(instruction.opcode, instruction.modifiers)
    if p is None:
        raise _unknown(instruction)
    target, *sources = instruction.operands
    *given, result = p.fragments
    if p.layouts:
        _quarters(warp, frame, p, instruction, mask)
        return
    matrices = [gather(warp, frame, f, operand) for f, operand in zip(given, sources[:3], strict=True)]
    scales = [
        _scales(warp, frame, p, words, selector, role)
        for words, selector, role in zip(sources[3::2], sources[4::2], "ab", strict=False)
    ]
    scatter(warp, frame, result, target, multiply(p, *matrices, *(scales or [np.ones(1)] * 2)), mask)


def _quarters(warp: Warp, frame: Frame, p: tensor.Product, instruction: Instruction, mask: np.ndarray) -> None:
    """`mma.m8n8k4` with f16: the four products of lanes 4i to 4i + 3 and 4i + 16 to 4i + 19, from the manual's text."""
    d, a, b, c = instruction.operands
    member, high = LANE % 4, LANE // 16 * 4
    read = lambda operand: [warp.read(frame, item, isa.TYPES["b32"]) for item in _items(operand)]
    halves = lambda words: [w.view(np.uint16)[half::2] for w in words for half in (0, 1)]

    def accumulator(kind: str, i: int) -> tuple[np.ndarray, np.ndarray]:
        if kind == "f16":
            return member + high, np.full(LANES, i)
        return (LANE & 1) + (i & 2) + high, (i & 4) + (LANE & 2) + (i & 1)

    product = LANE % 16 // 4
    left, right, start = np.zeros((4, 8, 4)), np.zeros((4, 4, 8)), np.zeros((4, 8, 8))
    for i, (x, y) in enumerate(zip(halves(read(a)), halves(read(b)), strict=True)):
        left[(product, member + high, i) if p.layouts[0] == "row" else (product, i + high, member)] = values("f16", x)
        right[(product, member, i + high) if p.layouts[1] == "row" else (product, i, member + high)] = values("f16", y)
    for i, x in enumerate(halves(read(c)) if p.c == "f16" else read(c)):
        start[product, *accumulator(p.c, i)] = values(p.c, x)
    with np.errstate(all="ignore"):
        total = (left[:, :, :, None] * right[:, None]).sum(axis=2) + start
    found = [raw(p.d, total[product, *accumulator(p.d, i)]).astype(np.uint32) for i in range(8)]
    if p.d == "f16":
        found = [low | upper << np.uint32(16) for low, upper in zip(found[::2], found[1::2], strict=True)]
    for item, word in zip(_items(d), found, strict=True):
        warp.write(frame, item, word, isa.TYPES["b32"], mask)


def _scales(warp: Warp, frame: Frame, p: tensor.Product, operand: object, selector: object, role: str) -> np.ndarray:
    """The scale of each element of A or B ("PTX ISA", "Block Scaling for mma.sync")."""
    words = warp.read(frame, operand, isa.TYPES["b32"])
    byte, thread = (int(warp.read(frame, item, isa.TYPES["b16"])[0]) for item in _items(selector))
    lines = np.arange(p.m if role == "a" else p.n)
    lanes = 4 * (lines % 8) + (lines // 8 + 2 * (thread & 1) if role == "a" else thread & 3)
    parts = [
        words[lanes].astype(np.uint64) >> np.uint64(8 * (byte + part & 3)) & np.uint64(255) for part in range(p.scales)
    ]
    whole = np.repeat(np.array([values(p.scale_type, part) for part in parts]), p.k // p.scales, axis=0)
    return whole.T if role == "a" else whole


# ---------------------------------------------------------------- memory


def move(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`wmma.load` and `wmma.store`: element by element."""
    found = tensor.move(instruction.modifiers)
    if found is None:
        raise _unknown(instruction)
    f, store = found.fragment, "store" in instruction.modifiers
    pointer: Mem = instruction.operands[0 if store else 1]
    address = _uniform(warp, instruction, warp.addresses(frame, pointer))
    rows, columns = shape(f)
    by_rows = "row" in instruction.modifiers
    stride = found.extent
    if len(instruction.operands) > 2:
        stride = _uniform(
            warp, instruction, warp.read(frame, instruction.operands[2], isa.TYPES["u32"]).astype(np.uint64)
        )
    _check_alignment(warp, instruction, address, stride, found)
    matrix = gather(warp, frame, f, instruction.operands[1]) if store else np.zeros((rows, columns), np.uint64)
    nbytes = max(1, f.bits // 8)
    space = mem.space_of(instruction.modifiers)
    for index in range(0, size(f), 2 if f.bits == 4 else 1):
        row, column = element(f, index)
        line, place = (row, column) if by_rows else (column, row)
        addresses = np.uint64(address) + ((line * stride * found.unit + place * f.bits) // 8).astype(np.uint64)
        hosts = mem.access(warp, instruction, mask, addresses, space, "store" if store else "load", nbytes)
        if store:
            data = matrix[row, column].reshape(LANES, 1).view(np.uint8)[:, :nbytes]
            mem.write(hosts, mask, np.ascontiguousarray(data))
            continue
        data = np.zeros((LANES, 8), np.uint8)
        data[:, :nbytes] = mem.read(hosts, mask, nbytes)
        bits = data.view(np.uint64)[:, 0]
        if f.bits == 4:
            matrix[row, column] = bits & np.uint64(15)
            matrix[element(f, index + 1)] = bits >> np.uint64(4)
        else:
            matrix[row, column] = bits
    if not store:
        scatter(warp, frame, f, instruction.operands[0], matrix, mask)


def _uniform(warp: Warp, instruction: Instruction, lanes: np.ndarray) -> int:
    """The value that all lanes must have in common."""
    other = np.flatnonzero(lanes != lanes[0])
    if len(other):
        lane = int(other[0])
        raise PartialWarp(
            f"The lanes of a warp give different addresses or strides, {warp.position(instruction, lane)}",
            **warp.where(instruction, lane),
        )
    return int(lanes[0])


def _check_alignment(warp: Warp, instruction: Instruction, address: int, stride: int, found: tensor.Move) -> None:
    where = warp.where(instruction, 0, address)
    if address % found.alignment:
        raise Misaligned(
            f"a matrix at an address that is no multiple of {found.alignment}, {warp.position(instruction, 0)}", **where
        )
    if stride * found.unit % (8 * found.grain):
        raise Misaligned(
            f"rows that are no multiple of {found.grain} bytes apart ({stride} elements), "
            f"{warp.position(instruction, 0)}",
            **where,
        )


def _transposed(words: np.ndarray) -> np.ndarray:
    """The transpose of an 8×8 matrix of 16-bit elements in a register: lane 4r+t has columns 2t and 2t+1 of row r."""
    return np.ascontiguousarray(np.ascontiguousarray(words).view(np.uint16).reshape(8, 8).T).view(np.uint32).ravel()


def rows(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`ldmatrix` and `stmatrix`: lanes 8i to 8i+7 give the addresses of the rows of matrix i (of 16 rows: twice as many
    lanes)."""
    found = tensor.rows(instruction.opcode, instruction.modifiers)
    if found is None:
        raise _unknown(instruction)
    store = instruction.opcode == "stmatrix"
    pointer, other = instruction.operands[:: 1 if store else -1]
    addresses = warp.addresses(frame, pointer)
    if mem.space_of(instruction.modifiers) == "generic":
        addresses = addresses - warp.window("shared")[0]
    givers = mask & (found.rows * found.matrices > LANE)
    hosts = mem.access(warp, instruction, givers, addresses, "shared", "store" if store else "load", 16)
    u32 = isa.TYPES["b32"]
    items = _items(other)
    for index in range(found.matrices):
        here = [int(host) for host in hosts[found.rows * index :][: found.rows]]
        if store:
            for host, row in zip(here, _to_rows(found, warp.read(frame, items[index], u32)), strict=True):
                ctypes.memmove(host, row.tobytes(), 16)
            continue
        data = np.array([np.frombuffer(ctypes.string_at(host, 16), np.uint8) for host in here])
        some = items[found.registers * index :][: found.registers]
        for item, words in zip(some, _from_rows(found, data), strict=True):
            warp.write(frame, item, words, u32, mask)


def _from_rows(found: tensor.Rows, data: np.ndarray) -> list[np.ndarray]:
    """The registers of a matrix, from its rows of 16 bytes ("PTX ISA", ldmatrix: figures of the three shapes)."""
    if found.packed:
        bits = np.unpackbits(data, axis=1, bitorder="little")[:, : 16 * found.packed].reshape(-1, 16, found.packed)
        data = np.packbits(bits, axis=2, bitorder="little")[:, :, 0]
    if found.transposed == 8:  # lane 4g + t: columns 4t to 4t + 3 of rows g and g + 8
        matrix = data.T
        return [np.ascontiguousarray(matrix[row : row + 8]).view(np.uint32).ravel() for row in (0, 8)]
    words = np.ascontiguousarray(data).view(np.uint32).ravel()
    return [_transposed(words) if found.transposed else words]


def _to_rows(found: tensor.Rows, words: np.ndarray) -> np.ndarray:
    """8 rows of 16 bytes, from a register ("PTX ISA", stmatrix)."""
    if found.transposed == 8:  # lane 4g + t holds columns 2t and 2t + 1 of row g, and of row g + 8
        four = np.ascontiguousarray(words).view(np.uint8).reshape(8, 4, 2, 2)
        return np.ascontiguousarray(four.transpose(1, 3, 2, 0)).reshape(8, 16)
    words = _transposed(words) if found.transposed else np.ascontiguousarray(words)
    return words.view(np.uint8).reshape(8, 16)


def transpose(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`movmatrix`"""
    if instruction.modifiers[-3:] != ("m8n8", "trans", "b16"):
        raise _unknown(instruction)
    u32 = isa.TYPES["b32"]
    warp.write(frame, instruction.operands[0], _transposed(warp.read(frame, instruction.operands[1], u32)), u32, mask)


def check_whole(warp: Warp, instruction: Instruction, mask: np.ndarray) -> None:
    """PartialWarp if lanes are missing."""
    if not mask.all():
        lane = int(np.argmax(mask))
        raise PartialWarp(
            f"Only {int(mask.sum())} of the 32 threads of a warp execute {instruction}, "
            f"{warp.position(instruction, lane)}",
            **warp.where(instruction, lane),
        )


def tensor_core(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """Instructions of a whole warp."""
    if not {"sync", "aligned"} <= set(instruction.modifiers):
        raise _unknown(instruction)
    check_whole(warp, instruction, mask)
    if instruction.opcode == "wmma":
        action = product if "mma" in instruction.modifiers else move
    else:
        action = {"mma": product, "ldmatrix": rows, "stmatrix": rows, "movmatrix": transpose}[instruction.opcode]
    action(warp, frame, instruction, mask)


def _unknown(instruction: Instruction) -> Unsupported:
    return Unsupported(f"The instruction {instruction} is not known to the virtual GPU.")
