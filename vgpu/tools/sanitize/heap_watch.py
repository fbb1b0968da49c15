"""The heap of kernels under watch: fresh pieces count as unwritten, and what nothing points to at the end is lost."""

from __future__ import annotations

import ctypes
import re

import numpy as np

from vgpu.base.context import (
    ENTRY_HOME,
    ENTRY_HOMES,
    ENTRY_PLACE,
    ENTRY_PLACES,
    ENTRY_THREADS,
    ENTRY_TIME,
    NEVER_WRITTEN,
)
from vgpu.runtime.shadow import WRITE_LATE
from vgpu.storage import heap, memory
from vgpu.storage.heap import Heap, HeapAllocation

_ASSIGNED = re.compile(r"([\w.\->\[\]]*\w)\]*\s*=[^=;]*\b(?:malloc|new)\b")


class HeapWatch:
    """What the launch of a monitor does to the heap; `shadows` are those of writes, reads and other reads of it."""

    def __init__(self, monitor, area: Heap, shadows, shift: int):
        self.monitor, self.area, self.shadows, self.shift = monitor, area, shadows, shift
        places = monitor.lowered.places
        self.numbers = {place.site: number for number, place in enumerate(places, 1) if place.kind == "free"}
        heap.OBSERVERS.append(self._changed)

    def close(self) -> None:
        heap.OBSERVERS.remove(self._changed)

    def part(self, start: int, end: int) -> slice:
        """The entries of some bytes."""
        return slice(start - self.area.base >> self.shift, (end - 1 - self.area.base >> self.shift) + 1)

    def _changed(self, address: int, nbytes: int, alive: bool, caller: tuple) -> None:
        """What was known of these bytes belongs to whoever had them before."""
        here = self.part(address, address + max(1, nbytes))
        number = self.numbers.get(caller[1])
        if not alive and number is not None and self.monitor.races_in_global:
            self._race(here, number, caller[3] % ENTRY_THREADS)
        for shadow in self.shadows:
            shadow[here] = 0
        if alive:
            self.shadows[0][here] = NEVER_WRITTEN

    def _race(self, here: slice, number: int, thread: int) -> None:
        """Whether the thread that frees may have overtaken an access of another one."""
        monitor = self.monitor
        known = monitor.order.here.known[thread]
        for shadow in reversed(self.shadows):  # reads are what a free mostly overtakes
            entries = shadow[here]
            stamps, threads = entries >> ENTRY_TIME, (entries & (ENTRY_THREADS - 1)).astype(np.int64)
            home = entries >> ENTRY_HOME & (ENTRY_HOMES - 1)
            elsewhere = ((stamps < monitor["start"]) | (home != monitor["home"])) & (stamps > 0)
            late = (stamps >= monitor["floor"]) & (stamps >= known[threads]) & (threads != thread) & ~elsewhere
            for at in np.flatnonzero(late | elsewhere).tolist():
                entry = int(entries[at])
                if elsewhere[at] and monitor["cross"] and not monitor.order.unknown(entry):
                    continue
                other = entry >> ENTRY_PLACE & (ENTRY_PLACES - 1)
                monitor.pairs[WRITE_LATE, number, other] += 1
                monitor.conflict(WRITE_LATE, number, thread, self.area.base + (here.start + at << self.shift), entry)
                return


def lost(area: Heap, since: int) -> list[HeapAllocation]:
    """The live pieces allocated after number `since` to which no pointer is left, neither in arrays nor in others.

    A word of 8 bytes that holds an address within a piece counts as a pointer to it, whatever it was meant to be.
    """
    pieces = area.live()
    fresh = [piece for piece in pieces if piece.serial > since]
    if not fresh:
        return []
    starts, ends = memory.table()
    roots = [(int(start), int(end) - int(start)) for start, end in zip(starts, ends, strict=True)]
    roots += [(piece.address, piece.nbytes) for piece in pieces if piece.serial <= since]
    by_address = {piece.address: piece for piece in fresh}
    while roots:
        found = set().union(*(_pointed_to(area, address, nbytes) for address, nbytes in roots))
        reached = [by_address.pop(address) for address in found if address in by_address]
        roots = [(piece.address, piece.nbytes) for piece in reached]
    return sorted(by_address.values(), key=lambda piece: piece.serial)


def _pointed_to(area: Heap, address: int, nbytes: int) -> set[int]:
    """The addresses of the pieces that words of this memory point into."""
    words = nbytes // 8
    if not words:
        return set()
    held = np.frombuffer((ctypes.c_uint64 * words).from_address(address), np.uint64)
    offsets = held - np.uint64(area.base)
    inside = np.unique(offsets[offsets < np.uint64(area.nbytes)] // np.uint64(heap.GRAIN)).astype(np.int64)
    owners = np.unique(area.owners[inside])
    return {area.base + heap.GRAIN * (int(owner) - 1) for owner in owners if owner}


def name_of(piece: HeapAllocation) -> str:
    """What the user calls a piece: the name on the left of the line that allocated it, where there is one."""
    launch, site, _, _ = piece.caller
    text = launch.kernel.line_text(launch.line(site)) if hasattr(launch.kernel, "line_text") else ""
    found = _ASSIGNED.search(text)
    return found[1] if found else "heap"
