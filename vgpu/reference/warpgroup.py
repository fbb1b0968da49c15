"""Products of warpgroups (`wgmma`) in the reference interpreter, from matrices gathered element by element.

Each warp multiplies its 16 rows when it issues the product. Sums are as in `tensor.multiply`: taken in float64 and
rounded once. Source: NVIDIA "PTX ISA", asynchronous warpgroup-level matrix instructions.
"""

from __future__ import annotations

import ctypes

import numpy as np

from vgpu import isa
from vgpu.base.errors import OutOfBounds, PartialWarp, Unsupported
from vgpu.base.precision import BITS, fp8_kind
from vgpu.isa import tensor as shapes
from vgpu.isa import warpgroup
from vgpu.ptx import Instruction, Operand, Vec
from vgpu.reference import mbarrier, tensor
from vgpu.reference.warp import Frame, Warp

SWIZZLED = {0: 16, 1: 128, 2: 64, 3: 32}  # bytes of a line of the pattern, by mode; 16: no swizzling


def places(descriptor: int, rows: np.ndarray, elements: np.ndarray, bits: int, turned: bool) -> np.ndarray:
    """The byte in shared memory of each element (column) of each row; of single bits, that of a byte of 8."""
    return laid_out(descriptor, SWIZZLED[descriptor >> 62], rows, elements, bits, turned)


def laid_out(
    descriptor: int, line: int, rows: np.ndarray, elements: np.ndarray, bits: int, turned: bool, pairs: bool = False
) -> np.ndarray:
    """The same for a pattern with lines of so many bytes; `pairs`: it exchanges chunks of 32 bytes, and has 4 k."""
    start, leading, stride = ((descriptor >> first & 0x3FFF) << 4 for first in (0, 16, 32))
    base = descriptor >> 49 & 7
    row, at = rows[:, None], elements[None] * bits // 8
    if turned:
        k, byte, many = elements[None], row * bits // 8, 4 if pairs else 8
        if line == 16:
            offset = byte // 16 * stride + k // 8 * leading + k % 8 * 16 + byte % 16
        else:
            offset = byte // line * leading + k // many * stride + k % many * line + byte % line
    elif line == 16:
        offset = row // 8 * stride + row % 8 * 16 + at // 16 * leading + at % 16
    else:
        offset = row // 8 * stride + row % 8 * line + at
    address = start + offset
    if pairs:
        return address ^ ((address // 128 - base) % 4) * 32
    return address ^ ((address // 128 - base) % (line // 16)) * 16


def matrix(
    warp: Warp, instruction: Instruction, descriptor: int, rows: np.ndarray, kind: str, k: int, turned: bool
) -> np.ndarray:
    """The raw bits of rows of a matrix in shared memory, (rows, k)."""
    bits = 1 if kind == "b1" else shapes.BITS[kind]
    nbytes = max(1, bits // 8)
    found = places(descriptor, rows, np.arange(k), bits, turned)
    size = warp.block.shared_bytes
    if found.max() + nbytes > size:
        raise OutOfBounds(
            f"a matrix beyond the {size} bytes of shared memory, {warp.position(instruction, 0)}",
            **warp.where(instruction, 0, int(found.max())),
        )
    memory = np.frombuffer(ctypes.string_at(int(warp.block.shared.base), size), np.uint8).astype(np.uint64)
    if bits == 1:
        return memory[found] >> (np.arange(k) % 8).astype(np.uint64) & np.uint64(1)
    return sum(memory[found + byte] << np.uint64(8 * byte) for byte in range(nbytes))


def _same(warp: Warp, frame: Frame, instruction: Instruction, operand: Operand, kind: str) -> int:
    """An operand that all lanes give alike."""
    lanes = warp.read(frame, operand, isa.TYPES[kind])
    other = np.flatnonzero(lanes != lanes[0])
    if other.size:
        lane = int(other[0])
        raise PartialWarp(
            f"The lanes of a warp give {instruction} different operands, {warp.position(instruction, lane)}",
            **warp.where(instruction, lane),
        )
    return int(lanes[0])


def _multiply(warp: Warp, frame: Frame, instruction: Instruction, p: warpgroup.GroupProduct, mask: np.ndarray) -> None:
    target, left, right, keeps, *numbers = instruction.operands
    if warp.index // 4 * 4 + 4 > len(warp.block.warps):
        raise PartialWarp(
            f"A block of {len(warp.block.warps)} warps has no whole warpgroup here, {warp.position(instruction, 0)}",
            **warp.where(instruction, 0),
        )
    keep = _same(warp, frame, instruction, keeps, "pred")
    values = [number.value for number in numbers]
    turns = values[2:] if not p.whole else []
    second = matrix(
        warp, instruction, _same(warp, frame, instruction, right, "u64"), np.arange(p.n), p.b, p.k, turns[-1:] == [1]
    )
    if isinstance(left, Vec):
        first = tensor.gather(warp, frame, p.a_fragment, left)
        if p.a == "b1":
            shifts = np.arange(32, dtype=np.uint64)
            first = (first[:, :, None] >> shifts & np.uint64(1)).reshape(warpgroup.ROWS, p.k)
    else:
        rows = warp.index % 4 * 16 + np.arange(16)
        turned = len(turns) == 2 and turns[0] == 1
        # All 64 rows have to be there, as for the whole warpgroup.
        descriptor = _same(warp, frame, instruction, left, "u64")
        matrix(warp, instruction, descriptor, np.arange(64), p.a, p.k, turned)
        first = matrix(warp, instruction, descriptor, rows, p.a, p.k, turned)
    if not p.whole and values[0] != values[1]:
        first = first ^ np.uint64(1 << (shapes.BITS[p.a] - 1))
    total = tensor.gather(warp, frame, p.d_fragment, target)
    total = total if keep else np.zeros_like(total)
    if p.a == "b1":
        result = tensor.raw("s32", first.astype(np.int64) @ second.T.astype(np.int64) + tensor.values("s32", total))
    else:
        product = shapes.Product(warpgroup.ROWS, p.n, p.k, p.d, p.a, p.b, p.d, p.saturates)
        if p.eight_bit_floats and fp8_kind() == "hopper":
            result = tensor.raw(p.d, _narrow(p, first, second, total))
        else:
            result = tensor.multiply(product, first, second.T, total)
    tensor.scatter(warp, frame, p.d_fragment, target, result, mask)


def _wait(warp: Warp, instruction: Instruction, mask: np.ndarray) -> None:
    """Wait until all warps of the warpgroup have committed this one's groups but the latest ones."""
    groups = warp.block.product_groups
    first = warp.index // 4 * 4
    if min(groups[first : first + 4]) < groups[warp.index] - instruction.operands[0].value:
        warp.stalled = mbarrier.whereabouts(warp, instruction, 0)
        for lane in np.flatnonzero(mask):
            warp.block.watch.stalled[warp.index, int(lane)] = warp.stalled
        warp.pc[mask] -= 1  # it comes again


def _narrow(p: warpgroup.GroupProduct, a: np.ndarray, b: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Sums as Hopper takes them (`base.precision`), from raw bits."""
    first, second, start = tensor.values(p.a, a), tensor.values(p.b, b), tensor.values(p.d, d)
    with np.errstate(all="ignore"):
        parts = np.concatenate([first[:, None] * second[None], start[..., None]], axis=2)
        greatest = np.abs(parts).max(axis=2)
        whole = np.isfinite(greatest)
        power = np.maximum(np.frexp(np.where(whole, greatest, 1))[1] - 1, BITS - 127)
        unit = np.exp2(power - (BITS - 1.0))
        total = np.trunc(parts / unit[..., None]).sum(axis=2) * unit
        mantissa, exponent = np.frexp(total)
        cut = np.ldexp(np.trunc(np.ldexp(mantissa, BITS)), exponent - BITS)
        return np.where(whole, cut, parts.sum(axis=2))


def dispatch(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """The tensor cores' instructions with all their forms."""
    if instruction.opcode != "wgmma":
        tensor.tensor_core(warp, frame, instruction, mask)
        return
    tensor.check_whole(warp, instruction, mask)
    word = (*instruction.modifiers, "")[0]
    if word in warpgroup.WAITS:
        if word == "commit_group":
            warp.block.product_groups[warp.index] += 1
            warp.block.mbarriers.changes += 1
        elif word == "wait_group":
            _wait(warp, instruction, mask)
        return
    found = warpgroup.product(instruction.modifiers)
    if found is None:
        raise Unsupported(f"The instruction {instruction} is not known to the virtual GPU.")
    _multiply(warp, frame, instruction, found, mask)


ACTIONS = {"tensor": dispatch}
