"""The monitor of a watched launch: the shadows that compiled code writes, and the events that it reports."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vgpu import faults
from vgpu.base.context import (
    ANOTHER_BLOCK,
    ENTRY_HOME,
    ENTRY_HOMES,
    ENTRY_PLACE,
    ENTRY_PLACES,
    ENTRY_STRENGTH,
    ENTRY_THREADS,
    ENTRY_TIME,
    ERRORS,
    EVENT_CODE,
    EVENTS,
    NEVER_WRITTEN,
    PC_BARRIER_SHIFT,
    PC_DONE,
    PC_WAIT,
    RESIDENT_SLOT,
    SITE_BYTES,
    SLOT,
    WATCH,
    WATCH_BLOCK,
    WATCH_SLOT,
)
from vgpu.base.errors import Unsupported
from vgpu.lower.watch import UNKNOWN
from vgpu.runtime.overwrites import LOAD, STORE
from vgpu.runtime.shadow import CLASH, PAIR_KINDS, REACHES, READ_LATE, UNSET, WRITE_LATE, WRITE_TWICE
from vgpu.storage import memory
from vgpu.tools.sanitize.copies import Copies
from vgpu.tools.sanitize.heap_watch import HeapWatch
from vgpu.tools.sanitize.order import Order
from vgpu.tools.sanitize.products import Products
from vgpu.tools.sanitize.report import GOES_ON, Report
from vgpu.tools.sanitize.tensor_memory import TensorMemory

if TYPE_CHECKING:
    from vgpu.launch.worker import Worker
    from vgpu.lower.watch import Place
    from vgpu.tools.sanitize.run import _WatchedGrid

_SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
)
MOST_PLACES = ENTRY_PLACES  # their pairs are counted in a table
EVERYWHERE = (1 << 63) - 1
ENTRY_BYTES = 8
MOST_FAULTS = 10_000
"""Faulty accesses of warps after which a launch is stopped: each is reported by a call into Python."""
# Kinds of sites at which lanes with a fault are masked out, so that the others can go on.
MASKS_FAULTS = ("load", "store", "atomic", "copy", "heap")


_OF_BLOCK = [WATCH_SLOT[name] for name in WATCH_BLOCK]


class _ResidentBlock:
    """The shadows of one resident block, and its words of `WATCH_BLOCK` while other blocks run."""

    def __init__(self, slot: int, known: np.ndarray, entries: int, local_bytes: int):
        self.shadows = {name: np.zeros(entries, np.uint64) for name in ("writes", "reads", "others")}
        self.local = np.zeros(local_bytes, np.uint8)
        values = {name: shadow.ctypes.data for name, shadow in self.shadows.items()}
        values |= {"known": known.ctypes.data, "local_written": self.local.ctypes.data, "home": slot % ENTRY_HOMES}
        self.words = np.array([values.get(name, 0) for name in WATCH_BLOCK], np.int64)


class Monitor:
    """Shadows, clocks and findings of one launch; `attach` lets a worker's compiled code use them."""

    worker: Worker
    offsets: np.ndarray  # where the shadow of each allocation begins; -1 where there is none

    def __init__(self, run: _WatchedGrid, report: Report, arrays: Sequence[memory.ArrayInfo], races_in_global: bool):
        self.run, self.report = run, report
        self.lowered, self.races_in_global = run.lowered, races_in_global
        self.order = Order(int(np.prod(run.block)))
        self.words = np.zeros(len(WATCH), np.int64)
        self.written: np.ndarray | None = None  # the shadow of writes to global memory
        self.heap: HeapWatch | None = None
        self.kept: list[np.ndarray] = []  # memory whose addresses compiled code has
        self.error: BaseException | None = None
        self.faults = 0
        places = self.lowered.places
        self.cells = len(places) + 1
        if self.cells > MOST_PLACES:
            raise Unsupported(f"a kernel with {self.cells} accesses is too large to be watched: sanitize its parts.")
        self.pairs = np.zeros((PAIR_KINDS * REACHES, self.cells, self.cells), np.uint32)
        self.bounds = np.zeros((self.cells, 2), np.int64)
        self.bounds[:, 1] = EVERYWHERE
        self._fill_bounds()
        self.shift, reached = _granule(places, ("shared", "generic")), _granule(places, ("global", "generic"))
        self.resident: dict[int, _ResidentBlock] = {}
        self.here = self._switch_to(0)
        scratch = np.zeros(SITE_BYTES, np.uint8)
        self.kept.append(scratch)
        self.turns = np.zeros((0, 2), np.int64)
        self._make_room()
        self.callback: ctypes._CFunctionType | None = _SIGNATURE(self._event)
        self._set(
            event=ctypes.cast(self.callback, ctypes.c_void_p).value or 0, time=1, places=self.cells, shift=self.shift,
            global_shift=reached, pairs=self.pairs.ctypes.data, bounds=self.bounds.ctypes.data,
            scratch=scratch.ctypes.data,
        )  # fmt: skip
        self.copies = Copies(self)
        self._set(copies=int(self.copies.any))
        self.products = Products(self)
        self.tensor_memory = TensorMemory(self)
        self._watch_global(arrays, reached, races_in_global)
        self.handlers = {code: getattr(self, f"on_{name}") for code, name in EVENTS.items()}

    def _switch_to(self, slot: int) -> _ResidentBlock:
        """The block in this slot runs now. Its shadows."""
        self.order.switch_to(slot)
        found = self._resident_block(slot)
        self.words[_OF_BLOCK] = found.words
        return found

    def _resident_block(self, slot: int) -> _ResidentBlock:
        if slot not in self.resident:
            run = self.run
            self.resident[slot] = _ResidentBlock(
                slot, self.order.known(slot), (run.shared_bytes >> self.shift) + 16,
                run.warps * 32 * self.lowered.local_bytes + 16,
            )  # fmt: skip
        return self.resident[slot]

    def attach(self, worker: Worker) -> None:
        """Let a worker's compiled code find the shadows."""
        self.worker = worker
        worker.slots[SLOT["watch"]] = self.words.ctypes.data

    def close(self) -> None:
        """Drop all references to and from the launch, so that its memory doesn't wait for the garbage collector."""
        if self.heap is not None:
            self.heap.close()
        self.callback, self.handlers, self.run.workers = None, {}, []
        self.__dict__.pop("worker", None)
        del self.run.monitor

    def _set(self, **values: int) -> None:
        for name, value in values.items():
            self.words[WATCH_SLOT[name]] = value

    def __getitem__(self, name: str) -> int:
        return int(self.words[WATCH_SLOT[name]])

    def _shadow(self, name: str, entries: int) -> np.ndarray:
        found = np.zeros(entries, np.uint64)
        self.kept.append(found)
        self._set(**{name: found.ctypes.data})
        return found

    def _fill_bounds(self) -> None:
        """Fill `bounds`: for each place the extent of the one array that its addresses are computed from."""
        variables = self.run.kernel.module.variables
        pointers = {}
        for parameter, value in zip(self.run.kernel.parameters, self.run.given, strict=True):
            if len(value) == 8:
                address = int.from_bytes(value, "little")
                home = memory.describe(address)
                if home.allocation is not None and not home.freed and home.offset < home.allocation.nbytes:
                    pointers[parameter.name] = home.allocation.address, home.allocation.nbytes
        for number, place in enumerate(self.lowered.places, 1):
            if place.bounds is not None:
                low, high = place.bounds
                self.bounds[number] = low, EVERYWHERE if high is None else high
            elif place.space == "global" and UNKNOWN not in place.origins:
                homes = {pointers[name] for name in place.origins if name in pointers}
                homes |= {(variables.addresses[n], variables.nbytes[n]) for n in place.origins if n in variables.nbytes}
                if len(homes) == 1:
                    ((address, nbytes),) = homes
                    self.bounds[number] = address, address + nbytes

    def _watch_global(self, arrays: Sequence[memory.ArrayInfo], shift: int, races: bool) -> None:
        """Make shadows of the arguments' allocations, where races or unwritten memory are looked for."""
        starts, ends = self.run.table
        self.offsets = np.zeros(max(1, len(starts)), np.int64)
        self.run.slots["shadow_offsets"] = self.offsets.ctypes.data
        homes: dict[int, list[memory.ArrayInfo]] = {}
        for array in arrays:
            if array.nbytes:
                homes.setdefault(int(np.searchsorted(starts, array.address, "right")) - 1, []).append(array)
        unwritten = {
            index: found for index, inside in homes.items()
            if (found := _unwritten(int(starts[index]), int(ends[index]), inside, shift)) is not None
        }  # fmt: skip
        self.offsets[:] = -1
        total = 0
        for index in sorted(set(homes) | self._variables(starts) if races else unwritten):
            self.offsets[index] = total
            total += (int(ends[index] - starts[index]) >> shift) + 1
        area, in_heap = self.run.heap, total
        if area is not None and not area.live() and all(site.kind != "heap" for site in self.lowered.sites):
            area = None
        self.run.slots["heap_shadow"] = -1 if area is None else in_heap
        total += 0 if area is None else (area.nbytes >> shift) + 1
        if not total:
            return
        shadows = [self._shadow(f"global_{name}", total) for name in ("writes", "reads", "others")]
        self.written = writes = shadows[0]
        if area is not None:
            self.heap = HeapWatch(self, area, [shadow[in_heap:] for shadow in shadows], shift)
        for index, found in unwritten.items():
            begin = int(self.offsets[index])
            writes[begin : begin + len(found)][found] = NEVER_WRITTEN

    def global_part(self, start: int, nbytes: int | None) -> np.ndarray | None:
        """The shadow of writes to `nbytes` bytes from `start` on (None: to the allocation's end), if there is one."""
        if self.heap is not None and self.heap.area.contains(start):
            piece = self.heap.area.find(start)
            end = start + nbytes if nbytes is not None else piece.address + piece.nbytes if piece else start + 1
            return self.heap.shadows[0][self.heap.part(start, end)]
        starts, ends = self.run.table
        index = int(np.searchsorted(starts, start, "right")) - 1
        if self.written is None or index < 0 or self.offsets[index] < 0:
            return None
        first, shift = int(self.offsets[index]), self["global_shift"]
        end = int(ends[index]) if nbytes is None else start + nbytes
        return self.written[first + (start - int(starts[index]) >> shift) : first + (end - int(starts[index]) >> shift)]

    def _variables(self, starts: np.ndarray) -> set[int]:
        addresses = self.run.kernel.module.variables.addresses.values()
        return {int(np.searchsorted(starts, a, "right")) - 1 for a in addresses}

    # ------------------------------------------------------------ events of compiled code

    def _event(self, _: int, code: int, a: int, b: int, mask: int, vector: int) -> int:
        try:
            if code != EVENT_CODE["enter"]:
                self.order.runs(self.block())
            return self.handlers[code](a, b, mask, vector) or 0
        except BaseException as error:  # an exception must not cross into compiled code
            self.error = self.error or error
            self._end_launch()
            return 0

    def _end_launch(self) -> None:
        """Start no further block, and let the one that runs return to Python at its next jump."""
        self.run.cancelled = True
        self.run.stop(-1)
        self.run.shorten_slices()
        self.worker["fuel"] = 0

    def tick(self) -> int:
        time = self["time"] + 1
        self._set(time=time)
        return time

    def block(self) -> int:
        return self.worker["block"]

    def written_from_afar(self, rank: int, offset: int, nbytes: int) -> None:
        """Another block of the cluster, or a copy, has written to the shared memory of the block of a rank.

        It counts as written from its beginning on: which of the two comes first isn't looked at.
        """
        there, start = self._of_rank(rank)
        entries = there.shadows["writes"][offset >> self["shift"] : (offset + nbytes - 1 >> self["shift"]) + 1]
        entries[entries >> np.uint64(ENTRY_TIME) < start] = np.uint64(start << ENTRY_TIME)

    def _of_rank(self, rank: int) -> tuple[_ResidentBlock, int]:
        """A block of the cluster whose block runs, and when it began."""
        slot = self.worker["resident_slot"]
        there = self._resident_block(slot - slot % self.run.together + rank)
        words = self.words if there is self.here else there.words
        return there, int(words[WATCH_SLOT["start"]])

    def on_remote(self, place: int, how: int, mask: int, vector: int) -> int:
        """Lanes access shared memory of other blocks of the cluster: compare it with the shadows there, and note it.

        how: bytes, `rule` above 8 bits, and above 32 the lanes whose store changes memory. Returns the lanes that read
        what no thread has written.
        """
        addresses, bases, raw = _words(vector), self._shared_bases(), 0
        for lane in range(32):
            if mask >> lane & 1 and (found := self._in_shared(addresses[lane], bases)):
                silent = how >> 8 & 3 == STORE and not how >> 32 + lane & 1
                thread = 32 * self.worker["warp"] + lane
                raw |= self._from_afar(*found, how & 0xFF, place, how >> 8 & 0xFF, thread, silent) << lane
        return raw

    def _shared_bases(self) -> list[int]:
        """Where the shared memory of each block of the cluster begins, by rank."""
        slot = self.worker["resident_slot"]
        first = slot - slot % self.run.together
        return self.worker.table[first : first + self.run.together, RESIDENT_SLOT["shared_base"]].tolist()

    def _in_shared(self, address: int, bases: list[int]) -> tuple[int, int] | None:
        """The rank of a block of the cluster and the offset in its shared memory, of a generic address."""
        size = self.run.shared_bytes
        return next(((rank, address - base) for rank, base in enumerate(bases) if 0 <= address - base < size), None)

    def _from_afar(
        self, rank: int, offset: int, nbytes: int, place: int, rule: int, thread: int, silent: bool
    ) -> bool:  # fmt: skip
        """One thread's access to the shared memory of the block of a rank; `silent`: a store that changes nothing.

        Returns whether it reads bytes of which no thread has written any since that block began.
        """
        there, start = self._of_rank(rank)
        writes, reads, others = (there.shadows[name] for name in ("writes", "reads", "others"))
        kind, strength, shift = rule & 3, rule >> 2 & 3, self["shift"]
        who = ANOTHER_BLOCK << ENTRY_HOME | strength << ENTRY_STRENGTH | thread
        new = np.uint64(self["time"] << ENTRY_TIME | place << ENTRY_PLACE | who)
        after, raw = max(start, self["far"]), kind != STORE
        for word in range(offset >> shift, (offset + nbytes - 1 >> shift) + 1):
            pairs = [(READ_LATE if kind == LOAD else WRITE_TWICE, int(writes[word]))]
            if kind != LOAD:
                pairs += [(WRITE_LATE, int(reads[word])), (WRITE_LATE, int(others[word]))]
            for row, entry in pairs:
                strong = strength and entry >> ENTRY_STRENGTH & 3
                same = silent and row == WRITE_TWICE and entry >> ENTRY_PLACE & ENTRY_PLACES - 1 == place
                if entry >> ENTRY_TIME < after or strong or same or self._block_at(entry >> ENTRY_TIME) == self.block():
                    continue
                cell = row + 2 * PAIR_KINDS, place, entry >> ENTRY_PLACE & ENTRY_PLACES - 1
                self.pairs[cell] += 1
                if self.pairs[cell] == 1:
                    self.conflict(cell[0], place, thread, offset, entry)
            raw = raw and int(writes[word]) >> ENTRY_TIME < start
            if kind == LOAD:
                reads[word], others[word] = new, reads[word]
            else:
                writes[word] = new
        return raw

    def _threads(self, mask: int) -> np.ndarray:
        return np.flatnonzero(mask >> np.arange(32) & 1) + 32 * self.worker["warp"]

    def on_enter(self, *_: int) -> None:
        """Another resident block runs next."""
        self.here.words[:] = self.words[_OF_BLOCK]
        self.here = self._switch_to(self.worker["resident_slot"])
        self._make_room()
        self.turns[self["turn"]] = self.tick(), self.block()
        self._set(turn=self["turn"] + 1)

    def _make_room(self) -> None:
        """Make the table of turns long enough for one more, and for all blocks that compiled code may begin."""
        wanted = self["turn"] + 1 + self.run.blocks
        if len(self.turns) < wanted:
            longer = np.zeros((2 * wanted, 2), np.int64)
            longer[: len(self.turns)] = self.turns
            self.turns = longer
            self._set(turns=longer.ctypes.data)

    def _block_at(self, time: int) -> int:
        """The block that ran at a time."""
        at = int(np.searchsorted(self.turns[: self["turn"], 0], time, "right")) - 1
        return int(self.turns[max(at, 0), 1])

    def on_fault(self, code: int, site: int, mask: int, vector: int) -> int:
        kind = ERRORS[code]
        if kind not in GOES_ON or self.lowered.sites[site].kind not in MASKS_FAULTS:
            return 1
        lanes = [lane for lane in range(32) if mask >> lane & 1]
        lane = lanes[0]
        address = faults.access.signed(_words(vector)[lane], 64)
        detail = faults.owner(self.worker, self.run, address) if kind == "bounds" else ()
        fault = faults.Fault(kind, self.block(), self.worker["warp"], lane, site, address, detail=detail)
        self.report.fault(fault, len(lanes))
        self._count_fault()
        return 0

    def _count_fault(self) -> None:
        self.faults += 1
        if self.faults >= MOST_FAULTS:
            self.report.ended_early = True
            self._end_launch()

    def on_pair(self, what: int, entry: int, lane: int, vector: int) -> None:
        if self.worker["error"]:  # this block has failed, and goes on to the end of its basic block only
            return
        row, place, address = what >> 16, what & (ENTRY_PLACES - 1), _words(vector)[lane]
        kind = row % PAIR_KINDS
        if kind in (CLASH, UNSET) and (found := self._in_shared(address, self._shared_bases())):
            address = found[1]
        if kind != UNSET and not self.races_in_global and self.report.in_global(place, address):
            return
        self.conflict(row, place, 32 * self.worker["warp"] + lane, address, entry & (1 << 64) - 1)

    def conflict(self, row: int, place: int, thread: int, address: int, entry: int) -> None:
        """Report the first conflict of an access at a place with a shadow entry; `row` is its row of `pairs`."""
        kind = row % PAIR_KINDS
        if kind == UNSET and self._zeroed(address):
            return
        time = entry >> ENTRY_TIME
        other_block = self._block_at(time) if time and kind != CLASH else self.block()
        other = None if kind == UNSET else (
            entry >> ENTRY_PLACE & (ENTRY_PLACES - 1), entry & (ENTRY_THREADS - 1), other_block)  # fmt: skip
        self.report.pair(row, place, thread, self.block(), address, other)

    def on_arrived(self, entry: int, _: int, mask: int, __: int) -> None:
        self.copies.arrived(entry, [lane for lane in range(32) if mask >> lane & 1])
        self._set(detail=1)

    def on_bulk(self, entry: int, state: int, *_: int) -> None:
        self.copies.bulk(entry, state)

    def on_product(self, what: int, descriptor: int, mask: int, _: int) -> None:
        if mask:
            self.products.issued(what >> 1, bool(what & 1), descriptor & (1 << 64) - 1)

    def on_group(self, pending: int, _: int, mask: int, __: int) -> None:
        if mask and pending < 0:
            self.products.commit()
        elif mask:
            self.products.wait(pending)
            self._set(detail=1)

    def on_touched(self, place: int, product: int, mask: int, _: int) -> None:
        if not mask:
            return
        in_tensor_memory = self.lowered.places[product - 1].instruction.opcode == "tcgen05"
        (self.tensor_memory if in_tensor_memory else self.products).touched(place, product)

    def on_tensor(self, place: int, _: int, mask: int, vector: int) -> None:
        if mask:
            self.tensor_memory.told(place, mask, vector)

    def _zeroed(self, address: int) -> bool:
        """Whether an offset or generic address lies in the shared memory that begins as zeros."""
        base = self.worker["shared_base"]
        return 0 <= (address - base if address >= base else address) < self.lowered.zeroed_shared

    def _standing(self) -> np.ndarray:
        return np.array(self.worker.program_counters(), np.int32)

    def on_uneven(self, *_: int) -> None:
        """A barrier of the whole block has opened for threads that waited at different instructions."""
        threads = int(np.prod(self.run.block))
        standing = self._standing()[:threads]
        ended = np.flatnonzero(standing == PC_DONE)
        places: dict[int, int] = {}
        for thread, pc in enumerate(standing.tolist()):
            if pc != PC_DONE:
                places.setdefault(pc, thread)
        self.report.uneven(places, ended, self.block())

    def on_named(self, barrier: int, *_: int) -> None:
        waits = np.flatnonzero(self._standing() >> PC_BARRIER_SHIFT == (PC_WAIT >> PC_BARRIER_SHIFT) + barrier)
        self._set(detail=1)
        self.tensor_memory.met()
        self.order.open(barrier, waits, self.tick())

    def on_counted(self, place: int, packed: int, mask: int, _: int) -> None:
        count, arrives, barrier = packed & 0xFFFFFFFF, packed >> 32 & 1, packed >> 33
        threads = self._threads(mask)
        if count % 32:
            self.report.counted(place, count, int(threads[0]) if len(threads) else 0, self.block())
        if arrives and len(threads):
            self.order.arrive(barrier, threads, self.tick())

    def on_fence(self, place: int, wide: int, mask: int, _: int) -> None:
        threads, time = self._threads(mask), self.tick()
        if "proxy" in self.lowered.places[place - 1].instruction.modifiers:
            self.order.fence_proxy(threads, time, self["floor"])
        self.order.fence(threads, time, self["floor"], bool(wide))

    def on_strong(self, place: int, order: int, mask: int, vector: int) -> None:
        addresses, shared = _words(vector), self.worker["shared_base"]
        for thread in self._threads(mask).tolist():
            address = addresses[thread % 32]
            near = 0 <= address - shared < self.worker["shared_bytes"]
            key = (self.block(), address - shared) if near else (address,)
            self.tensor_memory.passes(key, thread // 32, order)
            if order & 1 and self.run.together > 1:  # perhaps of what another block of the cluster did
                self._set(far=self.tick())
            if order & 1 and self.order.acquire(key, thread):
                self._set(detail=1, cross=int(bool(self.order.here.seen)))
            if order & 2:
                time = self.tick() if order & 4 else self["time"]
                self.order.release(key, thread, time, self["floor"], bool(order & 4))

    def on_mask(self, place: int, active: int, alive: int, vector: int) -> None:
        self.report.mask(place, self.worker["warp"], active, alive, _words(vector), self.block())

    def on_cross(self, _a: int, _b: int, mask: int, vector: int) -> int:
        entries = _words(vector)
        return sum(1 << lane for lane in range(32) if mask >> lane & 1 and self.unknown(entries[lane]))

    def unknown(self, entry: int) -> bool:
        """Whether the block that runs cannot know of another block's access."""
        return self.order.unknown(entry, self._block_at(entry >> ENTRY_TIME))

    def on_stray(self, place: int, _: int, mask: int, vector: int) -> None:
        lanes = [lane for lane in range(32) if mask >> lane & 1]
        thread = 32 * self.worker["warp"] + lanes[0]
        self.report.stray(place, thread, self.block(), _words(vector)[lanes[0]], self.bounds[place], len(lanes))
        self._count_fault()


def _words(pointer: int) -> list[int]:
    """32 unsigned 64-bit words."""
    return list((ctypes.c_uint64 * 32).from_address(pointer))


def _unwritten(start: int, end: int, arrays: Sequence[memory.ArrayInfo], shift: int) -> np.ndarray | None:
    """Which granules of an allocation hold unwritten floats: they still have the fill of fresh memory, 0xFF bytes.

    No arithmetic on other numbers gives this NaN. None where there are none, and for integers, which may be -1.
    """
    kinds = {a.dtype for a in arrays}
    if len(kinds) != 1 or not re.fullmatch(r"(float|complex)\d+", kind := kinds.pop()):
        return None
    dtype = np.dtype(kind)
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    held = np.ctypeslib.as_array((ctypes.c_uint8 * ((end - start) // size * size)).from_address(start))
    words = held.view(f"u{size}")
    unset = np.iinfo(words.dtype).max
    if not words.size or words.max() != unset:  # which needs no memory for an answer to each word
        return None
    fill = words == unset
    return np.repeat(fill, size >> shift) if size >> shift else None


def _granule(places: Sequence[Place], spaces: Collection[str]) -> int:
    """Log2 of the bytes of one shadow entry: those of the narrowest access, 4 at most."""
    smallest = min((p.nbytes for p in places if p.space in spaces and p.nbytes), default=4)
    return min(smallest, 4).bit_length() - 1
