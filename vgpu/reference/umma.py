"""Products of tensor memory in the reference interpreter: matrices gathered byte by byte, sums in float64.

Source: NVIDIA "PTX ISA", data path layouts, packing formats and block scaling of `tcgen05.mma`.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vgpu.base.errors import KernelError, OutOfBounds
from vgpu.isa import umma
from vgpu.reference import tensor
from vgpu.reference.mbarrier import Whereabouts, failure
from vgpu.reference.warpgroup import laid_out

if TYPE_CHECKING:
    from vgpu.reference import Block

LINES = {0: 16, 1: 128, 2: 128, 4: 64, 6: 32}  # bytes of a line of the pattern, by swizzling mode
BITS = {"e2m3": 6, "e3m2": 6, "e2m1": 4}


@dataclass(frozen=True)
class Given:
    """The operands of one product: addresses, descriptors, whether D counts, by how many twos it is divided, the words
    that name lanes to keep, and the addresses of scales."""

    d: int
    a: int
    b: int
    instruction: int
    keep: bool
    down: int
    off: list[int]
    scales: list[int]


# ---------------------------------------------------------------- matrices


def _gathered(block: Block, places: np.ndarray, where: Whereabouts) -> np.ndarray:
    if places.max() >= block.shared_bytes:
        raise failure(OutOfBounds, f"a matrix beyond the {block.shared_bytes} bytes of shared memory", where)
    memory = np.frombuffer(ctypes.string_at(int(block.shared.base), block.shared_bytes), np.uint8)
    return memory[places]


def row_bytes(block: Block, descriptor: int, rows: int, nbytes: int, where: Whereabouts) -> np.ndarray:
    """The bytes of the rows of a K-major matrix, (rows, nbytes)."""
    places = laid_out(descriptor, LINES[descriptor >> 61], np.arange(rows), np.arange(nbytes), 8, False)
    return _gathered(block, places, where)


def _column_bytes(block: Block, descriptor: int, rows: int, k: int, size: int, where: Whereabouts) -> np.ndarray:
    """The bytes of the rows of an MN-major matrix whose elements have so many bytes, (rows, k · size)."""
    mode = descriptor >> 61
    places = laid_out(descriptor, LINES[mode], np.arange(rows), np.arange(k), 8 * size, True, mode == umma.PAIRS)
    return _gathered(block, (places[..., None] + np.arange(size)).reshape(rows, k * size), where)


def unpacked(data: np.ndarray, bits: int) -> np.ndarray:
    """Elements that stand at the beginning of each 16 bytes, 16 of them side by side: a byte for each."""
    rows, nbytes = data.shape
    every = np.unpackbits(np.ascontiguousarray(data).reshape(-1, 16), axis=1, bitorder="little")
    codes = np.packbits(every[:, : 16 * bits].reshape(-1, 16, bits), axis=2, bitorder="little")
    return codes[..., 0].reshape(rows, nbytes)


def _codes(data: np.ndarray, kind: str, k: int, in_tensor_memory: bool) -> np.ndarray:
    """The raw bits of the elements of rows of 32 bytes."""
    data = np.ascontiguousarray(data)
    if k == 64:
        return np.stack([data & 15, data >> 4], axis=2).reshape(len(data), 64)
    if k == 32 and kind in BITS:
        if not in_tensor_memory:
            return unpacked(data, BITS[kind])
        return data >> 1 & 63 if BITS[kind] == 6 else data >> 2 & 15
    return data.view({8: np.uint32, 16: np.uint16, 32: np.uint8}[k])


def _numbers(data: np.ndarray, kind: str, k: int, in_tensor_memory: bool = False) -> np.ndarray:
    return tensor.values(kind, _codes(data, kind, k, in_tensor_memory).astype(np.uint64)).astype(np.float64)


# ---------------------------------------------------------------- D, and what has its layout


@dataclass(frozen=True)
class Row:
    """Where the product's row lies: which block of the pair, the row there, the lane, and its columns."""

    block: int
    row: int
    lane: int
    columns: range


def rows_of(v: umma.Variant, m: int, n: int, first_lane: int) -> list[Row]:
    """The layouts A, B, D and F of the manual; B has each row twice, for two halves of the columns."""
    if (v.ctas, m) == (1, 64):
        return [Row(0, i, first_lane + i // 16 * 32 + i % 16, range(n)) for i in range(64)]
    if (v.ctas, m) == (2, 128):
        halves = range(n // 2), range(n // 2, n)
        return [Row(c, i, 64 * h + i, halves[h]) for c in range(2) for h in range(2) for i in range(64)]
    return [Row(c, i, i, range(n)) for c in range(v.ctas) for i in range(128)]


def _scales(block: Block, v: umma.Variant, address: int, first: int, plain: bool, lane: int, rows: range) -> np.ndarray:
    """The scales of rows of A or columns of B, from the quarter of tensor memory with a lane: (rows, scales)."""
    index = np.arange(rows.start, rows.stop)
    words = block.tensor_memory.words[lane // 32 * 32 + index % 32, address + index // 32]
    parts = [words >> np.uint32(8 * (first + i)) & np.uint32(255) for i in range(v.scales)]
    return np.stack([tensor.values("ue8m0" if plain else "ue4m3", part) for part in parts], axis=1)


def multiply(v: umma.Variant, given: Given, blocks: list[Block], where: Whereabouts) -> None:
    """Check one product and do it."""
    kind = v.of
    if wrong := umma.wrong_instruction(v, given.instruction):
        raise failure(KernelError, f"the instruction descriptor {wrong}", where)
    f = umma.fields(given.instruction, umma.INSTRUCTION)
    names = {role: kind.types[f[role]] for role in "ab"}
    for role, descriptor in (("a", given.a), ("b", given.b)):
        used = role == "b" or not v.in_tensor_memory
        if used and (wrong := umma.wrong_matrix(descriptor, bool(f[f"turn_{role}"]), names[role])):
            raise failure(KernelError, f"the descriptor of matrix {role.upper()} {wrong}", where)
    m, n = f["m"], f["n"]
    first_lane, column = given.d >> 16, given.d & 0xFFFF
    layout = rows_of(v, m, n, first_lane)
    _check_lanes(v, given, m, where)
    wide = len(layout[0].columns)
    for block in blocks:
        ranges = [(column, wide)] + [(given.a & 0xFFFF, 8)] * v.in_tensor_memory
        if v.scales:
            ranges += [(given.scales[0] & 0xFFFF, -(-m // v.ctas // 32)), (given.scales[1] & 0xFFFF, -(-wide // 32))]
        for start, count in ranges:
            block.tensor_memory.check_columns(start, count, where)

    def matrix(block: Block, role: str, rows: int) -> np.ndarray:
        descriptor = given.a if role == "a" else given.b
        if f[f"turn_{role}"]:
            data = _column_bytes(block, descriptor, rows, kind.k, kind.element_bits // 8, where)
        else:
            data = row_bytes(block, descriptor, rows, umma.ROW, where)
        return _numbers(data, names[role], kind.k)

    right = np.concatenate([matrix(block, "b", n // v.ctas) for block in blocks])
    if v.in_tensor_memory:
        start = given.a & 0xFFFF
        bytes_ = [np.ascontiguousarray(b.tensor_memory.words[:, start : start + 8]).view(np.uint8) for b in blocks]
        left = [_numbers(data, names["a"], kind.k, True) for data in bytes_]
    else:
        left = [matrix(block, "a", m // v.ctas) for block in blocks]
    sign = -1.0 if f["negate_a"] != f["negate_b"] else 1.0
    result = "s32" if v.kind == "i8" else "f32" if v.scales else kind.results[f["d"]]
    for row in layout:
        block = blocks[row.block]
        if given.off and given.off[4 * row.block + row.lane // 32] >> row.lane % 32 & 1:
            continue
        a = sign * left[row.block][row.lane if v.in_tensor_memory else row.row]
        b = right[row.columns.start : row.columns.stop]
        if v.scales:
            a, b = _scaled(block, v, given, f, row, a, b)
        home = block.tensor_memory.words[row.lane, column : column + wide]
        old = tensor.values(result, home & np.uint32(0xFFFF if result == "f16" else 0xFFFFFFFF))
        kept = old.astype(np.float64) * 2.0**-given.down if given.keep else np.zeros(wide)
        with np.errstate(all="ignore"):
            total = (a[None] * b).sum(axis=1) + kept
        if f["saturate"] and v.kind == "i8":
            total = np.clip(total, -(2**31), 2**31 - 1)
        block.tensor_memory.words[row.lane, column : column + wide] = tensor.raw(result, total).astype(np.uint32)


def _check_lanes(v: umma.Variant, given: Given, m: int, where: Whereabouts) -> None:
    lane = given.d >> 16
    good = lane in ((0, 16) if (v.ctas, m) == (1, 64) else (0,)) and (not v.in_tensor_memory or given.a >> 16 == lane)
    if not good or any(address >> 16 for address in given.scales):
        raise failure(OutOfBounds, f"D, A or scales don't begin at lane 0 of tensor memory, but at {lane}", where)


def _scaled(
    block: Block, v: umma.Variant, given: Given, f: dict[str, int], row: Row, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A row of A and its columns of B times their scales."""
    plain, each = bool(f["scale_type"]), v.of.k // v.scales
    home = given.scales[0] & 0xFFFF, given.scales[1] & 0xFFFF
    of_a = _scales(block, v, home[0], f["scale_a"], plain, row.lane, range(row.row, row.row + 1))
    of_b = _scales(block, v, home[1], f["scale_b"], plain, row.lane, range(len(row.columns)))
    return a * np.repeat(of_a[0], each), b * np.repeat(of_b, each, axis=1)
