"""The kernels' heap under the sanitizer: fresh allocations count as unwritten; those without a pointer are lost."""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from vgpu.storage.heap import Heap, HeapAllocation
    from vgpu.tools.sanitize.monitor import Monitor

_ASSIGNED = re.compile(r"([\w.\->\[\]]*\w)\]*\s*=[^=;]*\b(?:malloc|new)\b")


class HeapWatch:
    """Follows what a launch does to the heap; `shadows` are the heap's parts of writes, reads and other reads."""

    def __init__(self, monitor: Monitor, area: Heap, shadows: list[np.ndarray], shift: int):
        self.monitor, self.area, self.shadows, self.shift = monitor, area, shadows, shift
        places = monitor.lowered.places
        self.numbers = {place.site: number for number, place in enumerate(places, 1) if place.kind == "free"}
        heap.OBSERVERS.append(self._changed)

    def close(self) -> None:
        heap.OBSERVERS.remove(self._changed)

    def part(self, start: int, end: int) -> slice:
        """The shadow entries of the bytes from `start` up to `end`."""
        return slice(start - self.area.base >> self.shift, (end - 1 - self.area.base >> self.shift) + 1)

    def _changed(self, address: int, nbytes: int, alive: bool, caller: tuple) -> None:
        """These bytes were allocated or freed: what the shadows hold of them belongs to the allocation before."""
        here = self.part(address, address + max(1, nbytes))
        number = self.numbers.get(caller[1])
        if not alive and number is not None and self.monitor.races_in_global:
            self._race(here, number, caller[3] % ENTRY_THREADS)
        for shadow in self.shadows:
            shadow[here] = 0
        if alive:
            self.shadows[0][here] = NEVER_WRITTEN

    def _race(self, here: slice, number: int, thread: int) -> None:
        """Report the first access of another thread that nothing orders before this free."""
        monitor = self.monitor
        known = monitor.order.here.known[thread]
        for shadow in reversed(self.shadows):  # reads first: they are what a free mostly races with
            entries = shadow[here]
            stamps, threads = entries >> ENTRY_TIME, (entries & (ENTRY_THREADS - 1)).astype(np.int64)
            home = entries >> ENTRY_HOME & (ENTRY_HOMES - 1)
            elsewhere = ((stamps < monitor["start"]) | (home != monitor["home"])) & (stamps > 0)
            late = (stamps >= monitor["floor"]) & (stamps >= known[threads]) & (threads != thread) & ~elsewhere
            for at in np.flatnonzero(late | elsewhere).tolist():
                entry = int(entries[at])
                if elsewhere[at] and monitor["cross"] and not monitor.unknown(entry):
                    continue
                other = entry >> ENTRY_PLACE & (ENTRY_PLACES - 1)
                monitor.pairs[WRITE_LATE, number, other] += 1
                monitor.conflict(WRITE_LATE, number, thread, self.area.base + (here.start + at << self.shift), entry)
                return


def lost(area: Heap, since: int) -> list[HeapAllocation]:
    """The live allocations after number `since` that no pointer leads to, in arrays or in other live allocations.

    A word of 8 bytes that holds an address within an allocation counts as a pointer to it, whatever it means.
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
        found: set[int] = set().union(*(_pointed_to(area, address, nbytes) for address, nbytes in roots))
        reached = [by_address.pop(address) for address in found if address in by_address]
        roots = [(piece.address, piece.nbytes) for piece in reached]
    return sorted(by_address.values(), key=lambda piece: piece.serial)


def _pointed_to(area: Heap, address: int, nbytes: int) -> set[int]:
    """The addresses of the allocations that words of this memory point into."""
    words = nbytes // 8
    if not words:
        return set()
    held = np.ctypeslib.as_array((ctypes.c_uint64 * words).from_address(address))
    offsets = held - np.uint64(area.base)
    inside = np.unique(offsets[offsets < np.uint64(area.nbytes)] // np.uint64(heap.GRAIN)).astype(np.int64)
    owners = np.unique(area.owners[inside])
    return {area.base + heap.GRAIN * (int(owner) - 1) for owner in owners if owner}


def name_of(piece: HeapAllocation) -> str:
    """The user's name for an allocation: the left side of the line that made it, else "heap"."""
    launch, site, _, _ = piece.caller
    text = launch.kernel.line_text(launch.line(site)) if hasattr(launch.kernel, "line_text") else ""
    found = _ASSIGNED.search(text)
    return found[1] if found else "heap"
