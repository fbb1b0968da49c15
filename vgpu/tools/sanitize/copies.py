"""Asynchronous copies under the sanitizer: arrivals at mbarriers, and bulk copies from issue to end."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from vgpu.base.context import (
    BULK_ENTRY,
    COPIES,
    ENTRY,
    ENTRY_PLACE,
    ENTRY_PLACES,
    ENTRY_STRENGTH,
    ENTRY_THREADS,
    ENTRY_TIME,
    LANDED,
    LEFT,
    NEVER_WRITTEN,
    PENDING,
    QUEUE_BYTES,
    SITE_BYTES,
    STORES,
    TENSOR,
    TENSOR_MAP,
)
from vgpu.runtime.cluster import RANK_SHIFT
from vgpu.runtime.shadow import IN_FLIGHT, READ_LATE, UNFENCED, UNSET, WRITE_LATE, WRITE_TWICE

if TYPE_CHECKING:
    from vgpu.tools.sanitize.monitor import Monitor

_PENDING = np.uint64(PENDING << ENTRY_STRENGTH)
_KEPT = np.uint64((1 << ENTRY_TIME) - 1 - (PENDING << ENTRY_STRENGTH))
Part: TypeAlias = slice | np.ndarray  # granules of shared memory
_TIME, _THREAD = np.uint64(ENTRY_TIME), np.uint64(ENTRY_THREADS - 1)


class Copies:
    """Records a launch's asynchronous copies in the shadows of its monitor."""

    def __init__(self, monitor: Monitor):
        self.monitor = monitor
        places = monitor.lowered.places
        self.numbers = {place.site: number for number, place in enumerate(places, 1) if place.site is not None}
        self.any = any(place.strength == PENDING for place in places)
        # Places whose stores go through the asynchronous proxy, as bulk copies do; 0 stands for unwritten.
        self.bulk_places = np.array([0, *self.numbers.values()])

    def arrived(self, entry: int, lanes: list[int]) -> None:
        """Lanes arrive at an mbarrier once their earlier copies have landed: threads that wait there know of them."""
        monitor = self.monitor
        warp = (entry - monitor.worker["copies"] - COPIES) // QUEUE_BYTES
        targets = (ctypes.c_uint32 * 32).from_address(entry + ENTRY["targets"])
        for lane in lanes:
            self._release(targets[lane], 32 * warp + lane)

    def _release(self, barrier: int, thread: int) -> None:
        monitor = self.monitor
        monitor.order.release((monitor.block(), barrier), thread, monitor.tick(), monitor["floor"], True)

    def bulk(self, entry: int, state: int) -> None:
        """A bulk copy is issued, has landed, or its block ends."""
        monitor, landed = self.monitor, state == LANDED
        fields = {
            name: ctypes.c_int64.from_address(entry + offset).value
            for name, offset in BULK_ENTRY.items() if name not in ("coordinates", "map")
        }  # fmt: skip
        number = self.numbers.get((fields["site"] - monitor.worker["sites"]) // SITE_BYTES)
        if number is None or not fields["bytes"]:
            return
        thread, stores = fields["thread"], bool(fields["kind"] & STORES)
        if state == LEFT:
            monitor.report.left(number, thread, monitor.block())
            return
        rank, fields["offset"] = divmod(fields["offset"], 1 << RANK_SHIFT)
        if rank and not stores:  # to a block of a cluster: no thread here is its writer
            if landed:
                monitor.written_from_afar(rank - 1, fields["offset"], fields["bytes"])
            return
        shift = monitor["shift"]
        part = slice(fields["offset"] >> shift, (fields["offset"] + fields["bytes"] - 1 >> shift) + 1)
        now = monitor["time"] << ENTRY_TIME | number << ENTRY_PLACE | thread
        shadows = monitor.here.shadows
        if not landed and stores:
            self.read(number, thread, part)
        elif not landed:
            for name, kind in (("writes", WRITE_TWICE), ("reads", WRITE_LATE), ("others", WRITE_LATE)):
                if self._check(name, kind, number, thread, part):
                    break
            shadows["writes"][part] = np.uint64(now) | _PENDING
        elif stores:
            self._written(fields, entry)
        else:
            writes = shadows["writes"][part]
            mine = (writes & _PENDING) == _PENDING
            writes[mine] = writes[mine] & _KEPT | np.uint64(monitor["time"]) << _TIME
            self._release(fields["barrier"], thread)

    def read(self, number: int, thread: int, part: Part) -> None:
        """Another proxy reads shared memory from now on: report what it may not see."""
        if not self._check("writes", READ_LATE, number, thread, part):
            self._fenced(number, thread, part)

    def _check(self, name: str, kind: int, number: int, thread: int, part: Part) -> bool:
        """Report the first element that the copy must not touch yet. Whether there is one."""
        monitor = self.monitor
        entries = monitor.here.shadows[name][part]
        stamps, threads = entries >> _TIME, entries & _THREAD
        if kind == READ_LATE and (unset := np.flatnonzero(stamps < monitor["start"])).size:
            self._report(UNSET, number, thread, part, int(unset[0]), 0)
            return True
        known = monitor.order.here.known[thread][threads.astype(np.int64)]
        late = (stamps >= monitor["floor"]) & (stamps >= known) & (threads != thread)
        flying = ((entries & _PENDING) == _PENDING) & (stamps >= monitor["start"]) & ~late
        if name == "writes" and flying.any():
            at = int(np.flatnonzero(flying)[0])
            self._report(IN_FLIGHT, number, thread, part, at, int(entries[at]))
            return True
        if not late.any():
            return False
        at = int(np.flatnonzero(late)[0])
        self._report(kind, number, thread, part, at, int(entries[at]))
        return True

    def _fenced(self, number: int, thread: int, part: Part) -> None:
        """Report the first element that an ordinary store wrote without a proxy fence before this copy reads it."""
        monitor = self.monitor
        entries = monitor.here.shadows["writes"][part]
        stamps, threads = entries >> _TIME, (entries & _THREAD).astype(np.int64)
        places = (entries >> np.uint64(ENTRY_PLACE) & np.uint64(ENTRY_PLACES - 1)).astype(np.int64)
        hidden = stamps >= monitor.order.visible(thread, monitor["floor"])[threads]
        hidden &= ~np.isin(places, self.bulk_places)
        if hidden.any():
            at = int(np.flatnonzero(hidden)[0])
            self._report(UNFENCED, number, thread, part, at, int(entries[at]))

    def _report(self, kind: int, number: int, thread: int, part: Part, at: int, entry: int) -> None:
        monitor = self.monitor
        granule = part.start + at if isinstance(part, slice) else int(part[at])
        monitor.pairs[kind, number, entry >> ENTRY_PLACE & (1 << ENTRY_TIME - ENTRY_PLACE) - 1] += 1
        monitor.conflict(kind, number, thread, granule << monitor["shift"], entry)

    def _written(self, fields: dict[str, int], entry: int) -> None:
        """A copy has written global memory: it no longer counts as unwritten."""
        monitor = self.monitor
        if fields["kind"] & TENSOR:  # a box of a tensor: its whole allocation counts as written
            start = ctypes.c_int64.from_address(entry + BULK_ENTRY["map"] + TENSOR_MAP["address"]).value
            writes = monitor.global_part(start, None)
        else:
            writes = monitor.global_part(fields["remote"], fields["bytes"])
        if writes is not None:
            writes[writes == NEVER_WRITTEN] = 0
