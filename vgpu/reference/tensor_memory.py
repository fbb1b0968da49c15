"""Tensor memory in the reference interpreter (`tcgen05`): an array of 128 lanes and 512 columns, element by element.

What `mma`, `cp` and `shift` ask for is done at once. Source: NVIDIA "PTX ISA", Tensor Memory and the instructions of
the fifth generation of tensor cores; what it leaves open is listed in `isa.tensor_memory`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from vgpu import isa
from vgpu.base.errors import InvalidFree, KernelError, OutOfBounds, PartialWarp, Unsupported
from vgpu.isa import tensor_memory as forms
from vgpu.isa import umma as products
from vgpu.ptx import Instruction, Mem, Operand
from vgpu.reference import cluster, mbarrier, tensor, umma
from vgpu.reference.bulk_copy import Bulk
from vgpu.reference.mbarrier import Whereabouts, failure
from vgpu.reference.warp import LANE, Frame, Warp

if TYPE_CHECKING:
    from vgpu.reference import Block

U16, U32, U64, PRED = (isa.TYPES[name] for name in ("u16", "u32", "u64", "pred"))


class TensorMemory:
    """A block's tensor memory, and its allocations: the columns of each by its first."""

    def __init__(self) -> None:
        self.words: np.ndarray = np.zeros((forms.LANES, 0), np.uint32)
        self.allocated: dict[int, int] = {}
        self.relinquished = False
        self.latest: Whereabouts = {}

    def _taken(self) -> set[int]:
        return {column for first, count in self.allocated.items() for column in range(first, first + count)}

    def allocate(self, columns: int, where: Whereabouts) -> int:
        if columns not in (32, 64, 128, 256, 512):
            raise failure(KernelError, f"an allocation of {columns} columns of tensor memory", where)
        if self.relinquished:
            raise failure(KernelError, "an allocation after relinquish_alloc_permit", where)
        taken = self._taken()
        free = (f for f in range(0, forms.COLUMNS, columns) if not taken.intersection(range(f, f + columns)))
        first = next(free, None)
        if first is None:
            raise failure(KernelError, f"tensor memory has no {columns} columns left", where)
        if not self.words.size:
            self.words = np.zeros((forms.LANES, forms.COLUMNS), np.uint32)
        self.allocated[first], self.latest = columns, where
        self.words[:, first : first + columns] = 0xFFFFFFFF
        return first

    def free(self, address: int, columns: int, where: Whereabouts) -> None:
        if self.allocated.get(address) != columns:
            raise failure(InvalidFree, f"{columns} columns at {address:#x} are no allocation of tensor memory", where)
        del self.allocated[address]

    def check_columns(self, first: int, count: int, where: Whereabouts) -> None:
        if not self._taken().issuperset(range(first, first + count)):
            raise failure(
                OutOfBounds, f"columns {first} to {first + count - 1} of tensor memory aren't allocated", where
            )

    def check_empty(self) -> None:
        """Raise if the block, which has ended, left anything allocated."""
        if self.allocated:
            raise failure(KernelError, "tensor memory is still allocated when the block ends", self.latest)


def same(warp: Warp, instruction: Instruction, values: np.ndarray) -> int:
    """The value that all lanes give."""
    other = np.flatnonzero(values != values[0])
    if other.size:
        where = mbarrier.whereabouts(warp, instruction, int(other[0]))
        raise failure(PartialWarp, f"The lanes of a warp give {instruction} different operands", where)
    return int(values[0])


def addresses(warp: Warp, frame: Frame, operand: Mem | Operand) -> np.ndarray:
    if isinstance(operand, Mem):
        return (warp.read(frame, operand.base, U32).astype(np.int64) + operand.offset) & 0xFFFFFFFF
    return warp.read(frame, operand, U32).astype(np.int64)


def pair(warp: Warp, ctas: int, where: Whereabouts) -> list[Block]:
    """The block, or both of its pair by rank."""
    block = warp.block
    if ctas == 1:
        return [block]
    rank = block.cluster.rank(block.index) & ~1
    found = [block.cluster.block(each) if block.cluster.size > 1 else None for each in (rank, rank + 1)]
    if None in found:
        raise failure(KernelError, "the block has no peer for .cta_group::2", where)
    return [each for each in found if each is not None]


# ---------------------------------------------------------------- what warps do


def allocate(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    from vgpu.reference.async_copy import shared_offsets

    where = mbarrier.whereabouts(warp, instruction, 0)
    target, columns = instruction.operands
    count = same(warp, instruction, warp.read(frame, columns, U32))
    offset = same(warp, instruction, shared_offsets(warp, frame, instruction, target))
    first = warp.block.tensor_memory.allocate(count, where)
    if offset % 4 or offset + 4 > warp.block.shared_bytes:
        raise failure(OutOfBounds, "the address of tensor memory goes outside shared memory", where)
    ctypes.memmove(int(warp.block.shared.base) + offset, np.uint32(first).tobytes(), 4)


def deallocate(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    address, columns = (same(warp, instruction, warp.read(frame, o, U32)) for o in instruction.operands)
    warp.block.tensor_memory.free(address, columns, mbarrier.whereabouts(warp, instruction, 0))


def relinquish(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    warp.block.tensor_memory.relinquished = True


def _cells(
    warp: Warp, frame: Frame, instruction: Instruction, moved: forms.Move
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(register, lane, column) of what a move accesses: the last two for each thread."""
    memory = next(operand for operand in instruction.operands if isinstance(operand, Mem))
    where = mbarrier.whereabouts(warp, instruction, 0)
    address = same(warp, instruction, addresses(warp, frame, memory))
    lane, column = address >> 16, address & 0xFFFF
    if lane >= forms.LANES:
        raise failure(OutOfBounds, f"access to lane {lane} of tensor memory, which has {forms.LANES}", where)
    if lane // 32 != warp.index % 4 or lane % moved.lanes:
        text = f"warp {warp.index} accesses tensor memory from lane {lane} on, and has lanes {warp.index % 4 * 32} to "
        raise failure(OutOfBounds, f"{text}{warp.index % 4 * 32 + 31}", where)
    immediate = [operand.value for operand in instruction.operands if hasattr(operand, "value")]
    split = immediate[0] if moved.splits else 0
    for further in {0, split}:
        warp.block.tensor_memory.check_columns(column + further, moved.columns, where)
    for register in range(moved.registers):
        cells = np.array([moved.cell(register, thread) for thread in LANE.tolist()])
        yield register, lane + cells[:, 0], column + cells[:, 1] + split * cells[:, 2]


def move(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`ld` and `st`"""
    moved = forms.move(instruction.modifiers)
    if moved is None:
        raise _unknown(instruction)
    words = warp.block.tensor_memory.words
    items = tensor._items(instruction.operands[-1 if moved.store else 0])
    low = np.uint32(0xFFFF)
    for register, lane, column in list(_cells(warp, frame, instruction, moved)):
        words = warp.block.tensor_memory.words
        if moved.store:
            value = warp.read(frame, items[register], U32)
            words[lane, column] = value & low if moved.halves else value
            if moved.halves:
                words[lane, column + 1] = value >> np.uint32(16)
            continue
        value = words[lane, column]
        if moved.halves:
            value = value & low | words[lane, column + 1] << np.uint32(16)
        warp.write(frame, items[register], value, U32, mask)


# ---------------------------------------------------------------- what one thread asks for


def copy(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    target, matrix = instruction.operands
    _, (blocks, shape, packed) = forms.form(instruction.modifiers) or ("", (None,) * 3)
    rows, nbytes, firsts = forms.COPIES[str(shape)]
    into, descriptors = addresses(warp, frame, target), warp.read(frame, matrix, U64)
    for lane in np.flatnonzero(mask).tolist():
        where = mbarrier.whereabouts(warp, instruction, lane)
        first, column = int(into[lane]) >> 16, int(into[lane]) & 0xFFFF
        if wrong := products.wrong_matrix(int(descriptors[lane]), False, ""):
            raise failure(KernelError, f"the descriptor of a matrix {wrong}", where)
        if first > (31 if rows == 4 else 0):
            raise failure(OutOfBounds, f"a copy to lane {first} of tensor memory", where)
        for block in pair(warp, int(blocks or 1), where):
            block.tensor_memory.check_columns(column, nbytes // 4, where)
            data = umma.row_bytes(block, int(descriptors[lane]), rows, nbytes, where)
            if packed:
                bits, up = forms.PACKED[packed]
                data = (umma.unpacked(data, bits) << up).astype(np.uint8)
            words = np.ascontiguousarray(data).view(np.uint32)
            for quarter, start in enumerate(firsts):
                count = 1 if rows == 4 else 32
                here = 32 * quarter + first
                block.tensor_memory.words[here : here + count, column : column + nbytes // 4] = words[
                    start : start + count
                ]


def shift(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    into = addresses(warp, frame, instruction.operands[0])
    for lane in np.flatnonzero(mask).tolist():
        where = mbarrier.whereabouts(warp, instruction, lane)
        first, column = int(into[lane]) >> 16, int(into[lane]) & 0xFFFF
        for block in pair(warp, forms.ctas(instruction.modifiers), where):
            block.tensor_memory.check_columns(column, 8, where)
            if first % 32 or first >= forms.LANES:
                raise failure(OutOfBounds, f"a shift from lane {first} of tensor memory on", where)
            part = block.tensor_memory.words[first : first + 32, column : column + 8]
            part[:-1] = part[1:].copy()


def commit(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    barrier, *wanted = instruction.operands
    places = warp.addresses(frame, barrier)
    if "shared::cluster" not in instruction.modifiers:
        places = cluster.short(warp, places)
    numbers = warp.read(frame, wanted[0], U16) if wanted else np.zeros(len(mask), np.uint16)
    for lane in np.flatnonzero(mask).tolist():
        where = mbarrier.whereabouts(warp, instruction, lane)
        address = int(places[lane]) if places[lane] < 2**62 else -1
        several = bool(wanted) and warp.block.cluster.size > 1
        ranks = [rank for rank in range(16) if int(numbers[lane]) >> rank & 1]
        for place in [cluster.address_of(rank, address) for rank in ranks] if several else [address]:
            block, offset = cluster.placed(warp.block, place)
            barrier = block.mbarriers.find(offset, where)
            commit = Bulk((), 0, where, barrier, block, arrivals=1, round=warp.block.rounds)
            warp.block.bulk.append(commit)


def multiply(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    target, a, b, descriptor, *rest = instruction.operands
    made = products.variant(instruction.modifiers, isinstance(a, Mem))
    if made is None:
        raise _unknown(instruction)
    kept = rest.pop(0).items if hasattr(rest[0], "items") else ()
    scales = [addresses(warp, frame, rest.pop(0)) for _ in range(2)] if made.scales else []
    keep, down = warp.read(frame, rest[0], PRED), rest[1].value if len(rest) > 1 else 0
    off = [warp.read(frame, item, U32) for item in kept]
    left = addresses(warp, frame, a) if made.in_tensor_memory else warp.read(frame, a, U64)
    into, right, codes = addresses(warp, frame, target), warp.read(frame, b, U64), warp.read(frame, descriptor, U32)
    for lane in np.flatnonzero(mask).tolist():
        where = mbarrier.whereabouts(warp, instruction, lane)
        given = umma.Given(
            int(into[lane]), int(left[lane]), int(right[lane]), int(codes[lane]), bool(keep[lane]), down,
            [int(words[lane]) for words in off], [int(each[lane]) & (1 << 30) - 1 for each in scales],
        )  # fmt: skip
        umma.multiply(made, given, pair(warp, made.ctas, where), where)


def nothing(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`wait` and `fence`"""


FORMS = {
    "alloc": allocate, "dealloc": deallocate, "relinquish": relinquish, "ld": move, "st": move, "wait": nothing,
    "fence": nothing, "cp": copy, "shift": shift, "commit": commit, "mma": multiply,
}  # fmt: skip


def dispatch(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`tcgen05` with all its forms."""
    name, _ = forms.form(instruction.modifiers) or ("", ())
    if name not in FORMS:
        raise _unknown(instruction)
    if "sync" in instruction.modifiers:
        tensor.check_whole(warp, instruction, mask)
    FORMS[name](warp, frame, instruction, mask)


def _unknown(instruction: Instruction) -> Unsupported:
    return Unsupported(f"The instruction {instruction} is not known to the virtual GPU.")


ACTIONS = {"tensor_memory": dispatch}
