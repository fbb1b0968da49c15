"""Asynchronous copies in the reference interpreter: every thread keeps a list of what it issued.

Nothing is copied before the thread waits for its group, or somebody asks the mbarrier that follows the copy. The
definition is the one of NVIDIA's "PTX ISA", chapter on data movement, under "asynchronous copy": when exactly a copy
happens before its wait is left open there; here it is as late as it may be.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

import numpy as np

from vgpu import isa
from vgpu.base.errors import KernelError, Unsupported
from vgpu.ptx import Instruction, Mem, Not, Reg
from vgpu.reference import mbarrier
from vgpu.reference import memory as mem
from vgpu.reference.warp import LANES, Frame, Warp

U32, PRED = isa.TYPES["u32"], isa.TYPES["pred"]


@dataclass(frozen=True)
class Copy:
    """One thread's copy: host addresses, bytes to read and to write, and the group it belongs to."""

    source: int
    target: int
    take: int
    size: int
    group: int

    def perform(self, block) -> None:
        data = ctypes.string_at(self.source, self.take) if self.take else b""
        ctypes.memmove(self.target, data.ljust(self.size, b"\0"), self.size)


@dataclass(frozen=True)
class Arrival:
    """An arrival at an mbarrier once the thread's copies before it are complete."""

    offset: int
    where: dict

    def perform(self, block) -> None:
        block.mbarriers.update(self.offset, 1, 0, self.where)


@dataclass
class Issued:
    """What one thread has issued and not waited for, oldest first, and how many groups it has committed."""

    items: list = field(default_factory=list)
    committed: int = 0

    def complete(self, block, chosen) -> None:
        for item in [i for i in self.items if chosen(i)]:
            item.perform(block)
            self.items.remove(item)


def issued(warp: Warp, lane: int) -> Issued:
    return warp.block.issued.setdefault(warp.index * LANES + int(lane), Issued())


def complete_for(block, offset: int) -> None:
    """Everything that an mbarrier waits for: the copies before each arrival at it, and bulk copies."""
    for thread in block.issued.values():
        last = [i for i, item in enumerate(thread.items) if isinstance(item, Arrival) and item.offset == offset]
        for item in thread.items[: last[-1] + 1] if last else []:
            item.perform(block)
            thread.items.remove(item)


# ---------------------------------------------------------------- instructions


def copy(warp: Warp, frame: Frame, instruction: Instruction, mask) -> None:
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
    for lane in np.flatnonzero(mask & (takes > nbytes))[:1]:
        text = f"copy of {takes[lane]} bytes into {nbytes}, {warp.place(instruction, lane)}"
        raise KernelError(text, **warp.where(instruction, lane))
    sources = check_sources(warp, instruction, mask, warp.addresses(frame, source), takes, nbytes)
    offsets = shared_offsets(warp, frame, instruction, target)
    targets = mem.access(warp, instruction, mask, offsets, "shared", "store", nbytes)
    for lane in np.flatnonzero(mask):
        thread = issued(warp, lane)
        thread.items.append(Copy(int(sources[lane]), int(targets[lane]), int(takes[lane]), nbytes, thread.committed))


def _is_predicate(frame: Frame, operand) -> bool:
    return isinstance(operand, Not) or (isinstance(operand, Reg) and frame.raw(operand.name).dtype == bool)


def check_sources(warp, instruction, mask, addresses, takes, nbytes):
    """Host addresses of the sources; lanes that read fewer bytes than the size need only those to exist."""
    hosts = addresses.copy()
    reading = mask & (takes > 0)
    if not (reading & (takes != nbytes)).any():
        if reading.any():
            hosts = mem.access(warp, instruction, reading, addresses, "global", "load", nbytes)
        return hosts
    for lane in np.flatnonzero(reading):
        only = np.arange(LANES) == lane
        mem.aligned(warp, instruction, only, addresses, "load", nbytes)
        for end in (0, int(takes[lane]) - 1):
            mem.access(warp, instruction, only, addresses + np.uint64(end), "global", "load", 1)
    return hosts


def shared_offsets(warp: Warp, frame: Frame, instruction: Instruction, operand: Mem) -> np.ndarray:
    """Offsets in the block's shared memory; generic addresses that lie elsewhere become ones outside it."""
    addresses = warp.addresses(frame, operand)
    if any(word.split("::")[0] == "shared" for word in instruction.modifiers):
        return addresses
    return addresses - np.uint64(warp.block.shared.base)


def commit(warp: Warp, frame: Frame, instruction: Instruction, mask) -> None:
    for lane in np.flatnonzero(mask):
        issued(warp, lane).committed += 1


def wait(warp: Warp, frame: Frame, instruction: Instruction, mask) -> None:
    if instruction.operands:
        pending = warp.read(frame, instruction.operands[0], U32)
    else:
        pending = np.zeros(LANES, np.uint32)
        commit(warp, frame, instruction, mask)
    for lane in np.flatnonzero(mask):
        thread = issued(warp, lane)
        first = thread.committed - int(pending[lane])
        thread.complete(warp.block, lambda item, first=first: isinstance(item, Copy) and item.group < first)


def arrive(warp: Warp, frame: Frame, instruction: Instruction, mask) -> None:
    """`cp.async.mbarrier.arrive`: without `noinc` the phase waits for one arrival more, the one queued here."""
    offsets = shared_offsets(warp, frame, instruction, instruction.operands[0])
    for lane in np.flatnonzero(mask):
        where = mbarrier.whereabouts(warp, instruction, lane)
        offset = warp.block.mbarriers.find(int(offsets[lane]), where)
        if "noinc" not in instruction.modifiers:
            warp.block.mbarriers.expect_one_more(offset, where)
        issued(warp, lane).items.append(Arrival(offset, where))


def policy(warp: Warp, frame: Frame, instruction: Instruction, mask) -> None:
    """`createpolicy`: there are no caches that a policy could steer."""
    warp.write(frame, instruction.operands[0], np.zeros(LANES, np.uint64), isa.TYPES["u64"], mask)


FORMS = {"commit_group": commit, "wait_group": wait, "wait_all": wait, "mbarrier": arrive}


def dispatch(warp: Warp, frame: Frame, instruction: Instruction, mask) -> None:
    """`cp.async` without bulk copies."""
    next((FORMS[word] for word in instruction.modifiers if word in FORMS), copy)(warp, frame, instruction, mask)
