"""Bulk copies in the reference interpreter: runs of memory, and boxes of tensors, copied element by element.

They happen as late as possible, as in `async_copy`: loads when a thread tests their mbarrier, stores when the issuing
thread waits for their group, or at the end of the block. Source: NVIDIA's "PTX ISA", sections on bulk copies, tensors
and swizzling.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vgpu import isa
from vgpu.base.errors import KernelError, Misaligned, OutOfBounds, Unsupported
from vgpu.ptx import Instruction, Mem
from vgpu.ptx.verify_async import ROW_MODES
from vgpu.reference import async_copy, cluster, mbarrier
from vgpu.reference import memory as mem
from vgpu.reference.mbarrier import failure
from vgpu.reference.warp import LANES, Frame, Warp
from vgpu.storage import layout, tensor_map

if TYPE_CHECKING:
    from vgpu.reference import Block

S32, U32 = isa.TYPES["s32"], isa.TYPES["u32"]


@dataclass(frozen=True)
class CopiedRange:
    """One element or run of a copy: host addresses in shared and in global memory (None: outside the tensor), bytes.

    `fill` is the byte that a load gets from outside.
    """

    near: int
    remote: int | None
    nbytes: int
    fill: int = 0


@dataclass(frozen=True)
class Bulk:
    """One bulk copy: its ranges; for a load its mbarrier's offset and block, for a store a thread and its group.

    A commit of tensor memory (`arrivals`: 1) copies nothing, and stays in flight for the `round` it was issued in.
    """

    ranges: tuple[CopiedRange, ...]
    nbytes: int
    where: mbarrier.Whereabouts
    barrier: int | None = None
    home: Block | None = None
    thread: int = 0
    group: int = 0
    reduce: tuple[str, str] | None = None  # operation and type
    arrivals: int = 0
    round: int = -1

    def perform(self) -> None:
        for each in self.ranges:
            if each.remote is not None:
                loads = self.barrier is not None
                target, source = (each.near, each.remote) if loads else (each.remote, each.near)
                self._move(target, source, each.nbytes)
            elif self.barrier is not None:
                ctypes.memset(each.near, each.fill, each.nbytes)
        if self.barrier is not None and self.home is not None:
            self.home.mbarriers.update(self.barrier, self.arrivals, -self.nbytes, self.where)

    def _move(self, target: int, source: int, nbytes: int) -> None:
        if self.reduce is None:
            ctypes.memmove(target, source, nbytes)
            return
        operation, name = self.reduce
        size = isa.TYPES[name].bits // 8
        for at in range(0, nbytes, size):
            old, given = (ctypes.string_at(start + at, size) for start in (target, source))
            ctypes.memmove(target + at, mem.combine(name, mem.ATOMICS[operation], old, given), size)


def complete_for(block: Block, offset: int) -> None:
    """Complete the loads and commits that an mbarrier of the block waits for, by any block of its cluster.

    They take time on a GPU, in which threads that wait see the phase before: see `runtime/bulk_queue.py`.
    """
    for issuer in block.cluster.members():
        mine = [each for each in issuer.bulk if each.home is block and each.barrier == offset]
        ready = [each for each in mine if each.round < issuer.rounds and not mbarrier.unseen(block, offset)]
        if len(ready) < len(mine):
            block.mbarriers.changes += 1  # there will be progress
        _complete(issuer, ready)


def end(block: Block) -> None:
    """Complete the stores that no thread has waited for: the block has ended."""
    _complete(block, [each for each in block.bulk if each.barrier is None])


def _complete(block: Block, copies: list[Bulk]) -> None:
    for copy in copies:
        block.bulk.remove(copy)
        copy.perform()


# ---------------------------------------------------------------- what a copy moves


def _run(
    warp: Warp, remote: int, offset: int, nbytes: int, writes: bool, where: mbarrier.Whereabouts, near: bool
) -> tuple[CopiedRange, ...]:
    """A contiguous run, checked; `near`: `remote` is an offset in the block's own shared memory."""
    if nbytes % 16:
        raise failure(KernelError, f"a bulk copy of {nbytes} bytes, which is no multiple of 16", where)
    if remote % 16 or offset % 16:
        raise failure(Misaligned, "a bulk copy at an address that is no multiple of 16", where)
    start = _in_shared(warp, offset, nbytes, where)
    if near:
        remote = _in_shared(warp, remote, nbytes, where)
    else:
        _in_global(remote, nbytes, writes, where)
    return (CopiedRange(start, remote, nbytes),)


def _in_shared(warp: Warp, address: int, nbytes: int, where: mbarrier.Whereabouts) -> int:
    """The host address of bytes in the shared memory of the block or of its cluster."""
    block, offset = cluster.placed(warp.block, address)
    if offset < 0 or offset + nbytes > block.shared_bytes:
        raise failure(OutOfBounds, f"a bulk copy of {nbytes} bytes outside shared memory", where | {"address": offset})
    return int(block.shared.base) + offset


def _in_global(address: int, nbytes: int, writes: bool, where: mbarrier.Whereabouts) -> None:
    if nbytes and not mem.inside_device_memory(np.full(LANES, address, np.uint64), nbytes, writes)[0]:
        raise failure(OutOfBounds, f"a bulk copy of {nbytes} bytes outside global memory", where | {"address": address})


def _box(
    warp: Warp,
    address: int,
    offset: int,
    starts: list[int],
    shifts: list[int] | None,
    rows: list[int] | None,
    writes: bool,
    where: mbarrier.Whereabouts,
) -> tuple[tuple[CopiedRange, ...], int, str]:
    """The elements of a box, the bytes they take in shared memory, and their type.

    `shifts` are those of im2col mode, or None; `rows` those that a gather or a scatter names, or None.
    """
    try:
        _in_global(address, 128, False, where)
        raw = ctypes.string_at(address, 128)
    except OutOfBounds:
        window = warp.block.param_window
        inside = 0 <= address - int(window.base) <= window.nbytes - 128
        raw = ctypes.string_at(address, 128) if inside else bytes(128)
    found = tensor_map.decode(raw, len(starts))
    if found is None or bool(found.corners) != (shifts is not None) or (rows is not None and found.box[1] != 1):
        raise failure(KernelError, "no tensor map of these dimensions and this mode", where)
    if offset % 128:
        raise failure(Misaligned, "a tensor copy at a shared address that is no multiple of 128", where)
    base, element, sizes, strides, steps = found.address, found.element, found.sizes, found.strides, found.steps
    nbytes = math.prod(found.counts) * element * len(rows or [0])
    # Swizzling permutes within rows of `swizzle` bytes, of which the last may be incomplete.
    shared = _in_shared(warp, offset, layout.align_up(nbytes, found.swizzle or 1), where)
    _in_global(base, element + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)), writes, where)
    ranges = []
    if rows is not None:
        places: Iterator[list[int]] = ([starts[0] + i, row] for row in rows for i in range(found.counts[0]))
    elif shifts is None:
        boxes = itertools.product(*(range(n) for n in reversed(found.counts)))
        places = (
            [start + i * step for start, i, step in zip(starts, reversed(box), steps, strict=True)] for box in boxes
        )
    else:
        places = _columns(found, starts, shifts)
    for number, at in enumerate(places):
        inside = all(0 <= a < n for a, n in zip(at, sizes, strict=True))
        remote = base + sum(a * s for a, s in zip(at, strides, strict=True)) if inside else None
        near = swizzled(shared + number * element, found.swizzle)  # windows begin at multiples of 1024
        ranges.append(CopiedRange(near, remote, element, 0xFF if found.fills_nan else 0))
    return tuple(ranges), nbytes, found.type


def _columns(found: tensor_map.TensorDescriptor, starts: list[int], shifts: list[int]) -> Iterator[list[int]]:
    """The coordinates of all elements in im2col mode, pixel by pixel ("PTX ISA", im2col mode)."""
    channels, pixels = found.box
    at = list(starts)
    for _ in range(pixels):
        pixel = [a + shift for a, shift in zip(at[1:-1], shifts, strict=True)]
        for channel in range(channels):
            yield [starts[0] + channel, *pixel, at[-1]]
        for axis, (lower, upper) in enumerate(found.corners, 1):  # W first
            at[axis] += found.steps[axis]
            if at[axis] <= found.sizes[axis] - 1 + upper:
                break
            at[axis] = lower
        else:
            at[-1] += 1


def swizzled(offset: int, span: int) -> int:
    """The swizzled offset of a byte: within rows of `span` bytes, 16-byte chunks are permuted."""
    if not span:
        return offset
    chunks, line = span // 16, offset // 128
    return (offset // 16 ^ (line % chunks)) * 16 + offset % 16


# ---------------------------------------------------------------- instructions


def copy(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    words = instruction.modifiers
    spaces = [w.split("::")[0] for w in words if w.split("::")[0] in ("global", "shared")]
    if any(word.startswith(("im2col::", "cp_mask")) for word in words):
        raise Unsupported(f"The instruction {instruction} is not known to the virtual GPU.")
    loads, tensor = spaces[0] == "shared", "tensor" in words
    target, source, *rest = instruction.operands
    remote, near = (source, target) if loads else (target, source)
    operation = next(word for word in words if word in mem.ATOMICS) if "reduce" in words else None
    sizes = np.zeros(LANES, np.uint32) if tensor else warp.read(frame, rest.pop(0), U32)
    remotes = warp.addresses(frame, Mem(remote.base, remote.offset))
    offsets = warp.addresses(frame, near)
    barriers = warp.addresses(frame, rest.pop(0)) if loads else np.zeros(LANES, np.uint64)
    coordinates = [warp.read(frame, item, S32) for item in remote.coordinates or ()]
    columns = "im2col" in words or "im2col_no_offs" in words
    shifts = [warp.read(frame, item, isa.TYPES["u16"]) for item in rest.pop(0).items] if "im2col" in words else []
    several = warp.read(frame, rest.pop(0), isa.TYPES["u16"]) if "multicast::cluster" in words else None
    for lane in np.flatnonzero(mask).tolist():
        where = mbarrier.whereabouts(warp, instruction, lane)
        offset, barrier, size = int(offsets[lane]), int(barriers[lane]), int(sizes[lane])
        for rank in _ranks(warp, several, lane):
            if rank is not None:  # the same places in another block's shared memory
                told = rank & ~1 | _rank_of(warp, barrier) & 1 if "cta_group::2" in words else rank
                offset, barrier = cluster.address_of(rank, offset), cluster.address_of(told, barrier)
            if tensor:
                starts, rows = [int(c[lane]) for c in coordinates], None
                if ROW_MODES & set(words):
                    starts, rows = starts[:2], starts[1:]
                here = [int(shift[lane]) for shift in shifts] or [0] * (len(starts) - 2)
                place = (int(remotes[lane]), offset)
                ranges, nbytes, name = _box(warp, *place, starts, here if columns else None, rows, not loads, where)
            else:
                name = mem.value_type(words) if operation else ""
                near = spaces == ["shared", "shared"]
                ranges, nbytes = _run(warp, int(remotes[lane]), offset, size, not loads, where, near), size
            reduce = (operation, name) if operation else None
            if reduce is not None and not _has_reduction(*reduce):
                raise failure(KernelError, "a reduction that elements of the tensor map's type don't have", where)
            if loads:
                home, at = cluster.placed(warp.block, barrier)
                made = Bulk(ranges, nbytes, where, home.mbarriers.find(at, where), home, reduce=reduce)
            else:
                thread = warp.index * LANES + lane
                group = warp.block.bulk_groups.get(thread, 0)
                made = Bulk(ranges, nbytes, where, None, None, thread, group, reduce)
            warp.block.bulk.append(made)


def _has_reduction(operation: str, name: str) -> bool:
    """Whether PTX reduces elements of a type in this way."""
    if operation in ("inc", "dec"):
        return name == "u32"
    if operation in ("and", "or", "xor"):
        return name[:1] in ("b", "u", "s") and name[-2:] in ("32", "64")
    if operation == "add":
        return name in ("u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64")
    return name in ("u32", "s32", "u64", "s64")


def _ranks(warp: Warp, several: np.ndarray | None, lane: int) -> list[int | None]:
    """The ranks that a multicast names; None for the block that is meant without one."""
    if several is None:
        return [None]
    return [rank for rank in range(16) if int(several[lane]) >> rank & 1]


def _rank_of(warp: Warp, address: int) -> int:
    """The rank of the block in whose shared memory an address of the cluster lies."""
    named = address >> cluster.RANK_SHIFT
    return named - 1 if named else warp.block.cluster.rank(warp.block.index)


def commit(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    groups = warp.block.bulk_groups
    for lane in np.flatnonzero(mask).tolist():
        thread = warp.index * LANES + lane
        groups[thread] = groups.get(thread, 0) + 1


def wait(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    pending = warp.read(frame, instruction.operands[0], U32)
    for lane in np.flatnonzero(mask).tolist():
        thread = warp.index * LANES + lane
        first = warp.block.bulk_groups.get(thread, 0) - int(pending[lane])
        stores = [each for each in warp.block.bulk if each.barrier is None and each.thread == thread]
        _complete(warp.block, [each for each in stores if each.group < first])


def prefetch(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """Without caches, a prefetch has no effect."""


FORMS = {"commit_group": commit, "wait_group": wait, "prefetch": prefetch}


def dispatch(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    words = instruction.modifiers
    if "bulk" not in words:
        async_copy.dispatch(warp, frame, instruction, mask)
        return
    next((FORMS[word] for word in words if word in FORMS), copy)(warp, frame, instruction, mask)


ACTIONS = {"copy": dispatch, "policy": async_copy.policy}
