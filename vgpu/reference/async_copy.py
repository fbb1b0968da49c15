"""Asynchronous copies in the reference interpreter: every thread has a list of the copies it issued.

Nothing is copied before the thread waits for its group, or a thread tests the mbarrier that tracks the copy. NVIDIA's
"PTX ISA" (chapter on data movement, "asynchronous copy") leaves open when a copy happens before its wait; here it
happens as late as possible.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from vgpu import isa
from vgpu.base.errors import KernelError, Unsupported
from vgpu.ptx import Instruction, Mem, Not, Reg
from vgpu.reference import mbarrier
from vgpu.reference import memory as mem
from vgpu.reference.warp import LANES, Frame, Warp

if TYPE_CHECKING:
    from vgpu.reference import Block

U32, PRED = isa.TYPES["u32"], isa.TYPES["pred"]


@dataclass(frozen=True)
class Copy:
    """One thread's copy: host addresses, bytes to read and to write, and the group it belongs to."""

    source: int
    target: int
    take: int
    size: int
    group: int

    def perform(self, block: Block) -> None:
        data = ctypes.string_at(self.source, self.take) if self.take else b""
        ctypes.memmove(self.target, data.ljust(self.size, b"\0"), self.size)


@dataclass(frozen=True)
class Arrival:
    """An arrival at an mbarrier once the thread's copies before it are complete."""

    offset: int
    where: mbarrier.Whereabouts

    def perform(self, block: Block) -> None:
        block.mbarriers.update(self.offset, 1, 0, self.where)


@dataclass
class Issued:
    """A thread's copies and arrivals in flight, oldest first, and how many groups it has committed."""

    items: list[Copy | Arrival] = field(default_factory=list)
    committed: int = 0

    def complete(self, block: Block, chosen: Callable[[Copy | Arrival], bool]) -> None:
        for item in [each for each in self.items if chosen(each)]:
            item.perform(block)
            self.items.remove(item)


def issued(warp: Warp, lane: int) -> Issued:
    return warp.block.issued.setdefault(warp.index * LANES + lane, Issued())


def complete_for(block: Block, offset: int) -> None:
    """Complete what an mbarrier waits for: each arrival at it, and the thread's copies before that."""
    for thread in block.issued.values():
        last = [i for i, item in enumerate(thread.items) if isinstance(item, Arrival) and item.offset == offset]
        for item in thread.items[: last[-1] + 1] if last else []:
            item.perform(block)
            thread.items.remove(item)


# ---------------------------------------------------------------- instructions


def copy(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    target, source, size, *rest = instruction.operands
    words = instruction.modifiers
    nbytes = size.value
    if nbytes not in (4, 8, 16):
        raise Unsupported(f"The copy {instruction} has another size than 4, 8 or 16 bytes.")
    if "L2::cache_hint" in words:
        rest = rest[:-1]
    takes = np.full(LANES, nbytes, np.uint32)
    if rest and _is_predicate(frame, rest[0]):
        takes[warp.read(frame, rest[0], PRED)] = 0
    elif rest:
        takes = warp.read(frame, rest[0], U32)
    for lane in np.flatnonzero(mask & (takes > nbytes))[:1].tolist():
        text = f"copy of {takes[lane]} bytes into {nbytes}, {warp.position(instruction, lane)}"
        raise KernelError(text, **warp.where(instruction, lane))
    sources = check_sources(warp, instruction, mask, warp.addresses(frame, source), takes, nbytes)
    offsets = shared_offsets(warp, frame, instruction, target)
    targets = mem.access(warp, instruction, mask, offsets, "shared", "store", nbytes)
    for lane in np.flatnonzero(mask).tolist():
        thread = issued(warp, lane)
        thread.items.append(Copy(int(sources[lane]), int(targets[lane]), int(takes[lane]), nbytes, thread.committed))


def _is_predicate(frame: Frame, operand: object) -> bool:
    return isinstance(operand, Not) or (isinstance(operand, Reg) and frame.raw(operand.name).dtype == bool)


def check_sources(
    warp: Warp, instruction: Instruction, mask: np.ndarray, addresses: np.ndarray, takes: np.ndarray, nbytes: int
) -> np.ndarray:
    """Host addresses of the sources; for lanes that read fewer than `nbytes` bytes, only those are checked."""
    hosts = addresses.copy()
    reading = mask & (takes > 0)
    if not (reading & (takes != nbytes)).any():
        if reading.any():
            hosts = mem.access(warp, instruction, reading, addresses, "global", "load", nbytes)
        return hosts
    for lane in np.flatnonzero(reading).tolist():
        only = np.arange(LANES) == lane
        mem.aligned(warp, instruction, only, addresses, "load", nbytes)
        for end in (0, int(takes[lane]) - 1):
            mem.access(warp, instruction, only, addresses + np.uint64(end), "global", "load", 1)
    return hosts


def shared_offsets(warp: Warp, frame: Frame, instruction: Instruction, operand: Mem) -> np.ndarray:
    """Offsets in the block's shared memory; other generic addresses become offsets outside it."""
    addresses = warp.addresses(frame, operand)
    if any(word.split("::")[0] == "shared" for word in instruction.modifiers):
        return addresses
    return addresses - np.uint64(warp.block.shared.base)


def commit(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    for lane in np.flatnonzero(mask).tolist():
        issued(warp, lane).committed += 1


def wait(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    if instruction.operands:
        pending = warp.read(frame, instruction.operands[0], U32)
    else:
        pending = np.zeros(LANES, np.uint32)
        commit(warp, frame, instruction, mask)
    for lane in np.flatnonzero(mask).tolist():
        thread = issued(warp, lane)
        first = thread.committed - int(pending[lane])
        thread.complete(warp.block, functools.partial(_is_before, first))


def _is_before(group: int, item: Copy | Arrival) -> bool:
    return isinstance(item, Copy) and item.group < group


def arrive(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`cp.async.mbarrier.arrive`: without `noinc` the phase waits for one more arrival, the one queued here."""
    offsets = shared_offsets(warp, frame, instruction, instruction.operands[0])
    for lane in np.flatnonzero(mask).tolist():
        where = mbarrier.whereabouts(warp, instruction, lane)
        offset = warp.block.mbarriers.find(int(offsets[lane]), where)
        if "noinc" not in instruction.modifiers:
            warp.block.mbarriers.expect_one_more(offset, where)
        issued(warp, lane).items.append(Arrival(offset, where))


def policy(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`createpolicy`: without caches, a policy has no effect."""
    warp.write(frame, instruction.operands[0], np.zeros(LANES, np.uint64), isa.TYPES["u64"], mask)


FORMS = {"commit_group": commit, "wait_group": wait, "wait_all": wait, "mbarrier": arrive}


def dispatch(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`cp.async` without bulk copies."""
    next((FORMS[word] for word in instruction.modifiers if word in FORMS), copy)(warp, frame, instruction, mask)
