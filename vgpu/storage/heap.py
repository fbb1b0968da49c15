"""The heap that kernels allocate from with `malloc` and `new`: one area of a fixed size, and its tables.

The area is divided into grains of 16 bytes. Compiled code and the interpreter look addresses up in two tables: `owners`
has the allocation that each grain belongs to, `ends` the end of that allocation (0 once it has been freed). At least
one unused grain separates two allocations. Freed memory is reused only when no fresh memory is left, so that a use
after free finds a freed allocation and not another thread's memory.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from vgpu.base import own, steady
from vgpu.ptx import Instruction
from vgpu.ptx.lines import line_of
from vgpu.storage.host import available, size_text
from vgpu.storage.memory import ALIGNMENT, FRESH, table

GRAIN = 16  # CUDA C++ Programming Guide, "Dynamic Global Memory Allocation": pointers are aligned to 16 bytes
DEFAULT = 8 << 20  # … and the heap has 8 MB by default
MOST = 1 << 34  # the numbers of grains fit in 31 bits
_PRIVATE: dict[str, Any] = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


class _Site(Protocol):
    @property
    def instruction(self) -> Instruction: ...


class LaunchRecord:
    """What the heap remembers of one launch: its kernel, its sizes and the lines of its calls."""

    def __init__(
        self,
        kernel: Any,  # a loaded kernel, or a PTX function where the interpreter has no more
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        sites: Sequence[_Site] | None = None,
    ):
        self.kernel, self.grid, self.block, self._sites = kernel, grid, block, sites

    @classmethod
    def of(cls, run: Any) -> LaunchRecord:  # a `launch.grid.Grid`, which this folder can't import
        """The record of a launch of compiled code, whose calls are known by site."""
        return cls(run.kernel, run.grid, run.block, run.lowered.sites)

    def line(self, site: int | None) -> int | None:
        """The user's line of a call; in the interpreter `site` is that line itself."""
        if self._sites is None or site is None:
            return site
        files = self.kernel.module.module.files
        own = {number for number, name in files.items() if name == self.kernel.filename}
        return line_of(self._sites[site].instruction.location, own)


class Caller(NamedTuple):
    """The thread that allocates or frees, by its number in its block: in which launch, at which site or line."""

    launch: LaunchRecord
    site: int | None
    block: int
    thread: int


class HeapAllocation:
    """One allocation: the threads that allocated and freed it, and a serial number that counts from 1."""

    __slots__ = ("address", "caller", "freed_by", "nbytes", "serial")

    def __init__(self, address: int, nbytes: int, caller: Caller, serial: int):
        self.address, self.nbytes, self.caller, self.serial = address, nbytes, caller, serial
        self.freed_by: Caller | None = None


OBSERVERS: list[Callable[[int, int, bool, Caller], object]] = []
"""Called with (address, nbytes, alive, caller) after each change; add one only while holding `own.LAUNCHING`."""
LAUNCHES: own.Listeners[Callable[[LaunchRecord], object]] = own.Listeners()
"""Called before each launch that can call the host."""


class HeapState(NamedTuple):
    """The contents of a heap, for `restore`."""

    allocations: dict[int, tuple[HeapAllocation, Caller | None]]
    runs: tuple[list[int], dict[int, list[int]], list[tuple[int, int]]]
    fresh: int = 0
    owners: np.ndarray | tuple[()] = ()
    ends: np.ndarray | tuple[()] = ()
    data: bytes = b""
    in_use: int = 0
    last: int = 0


class Heap:
    """One heap of `nbytes` bytes: `base` is its address, `owners` and `ends` are its tables."""

    def __init__(self, nbytes: int):
        self.nbytes = -(-nbytes // ALIGNMENT) * ALIGNMENT
        self.grains = self.nbytes // GRAIN
        room = self.nbytes + 2 * ALIGNMENT
        left = available()
        if left is not None and room > 0.9 * left:
            raise MemoryError(
                f"a heap of {size_text(nbytes)} for kernels has no room: this machine has about {size_text(left)} left."
            )
        self._mapping = mmap.mmap(-1, room, **_PRIVATE)
        self._bytes = np.frombuffer(self._mapping, np.uint8)
        start = self._bytes.ctypes.data
        self.base = -(-start // ALIGNMENT) * ALIGNMENT
        self.owners = np.zeros(self.grains, np.int32)  # the number of the allocation's first grain, plus 1
        self.ends = np.zeros(self.grains, np.int64)
        self.allocations: dict[int, HeapAllocation] = {}  # by the first grain; freed ones too, until they are reused
        self.in_use = 0  # bytes that were requested and not yet freed
        self._fresh = 0  # the first grain that was never used
        self._sizes: list[int] = []  # lengths of free runs, sorted
        self._runs: dict[int, list[int]] = {}  # … and where runs of that length begin
        self._returned: list[tuple[int, int]] = []  # runs that were freed and not yet joined to the free runs
        self.last = 0  # the serial number of the last allocation
        self._lock = steady.lock(rank=5)

    def allocate(self, nbytes: int, caller: Caller, alignment: int = GRAIN) -> int:
        """The address of `nbytes` bytes at a multiple of `alignment`, or 0 when the heap is full.

        0 bytes get an address too, which can be freed.
        """
        alignment = max(alignment, GRAIN)
        if nbytes > self.nbytes or alignment > self.nbytes or alignment & (alignment - 1):
            return 0
        grains = max(1, -(-nbytes // GRAIN)) + 1
        with self._lock:
            first = self._take(grains, alignment)
            if first is None:
                return 0
            address = self.base + first * GRAIN
            ctypes.memset(address, FRESH, nbytes)
            self.last += 1
            self.allocations[first] = HeapAllocation(address, nbytes, caller, self.last)
            self.ends[first] = address + nbytes
            self.owners[first : first + grains] = first + 1
            self.in_use += nbytes
            for observer in OBSERVERS:
                observer(address, nbytes, True, caller)
        return address

    def free(self, address: int, caller: Caller) -> bool:
        """Free an allocation; False for an address that `allocate` didn't return, or that is free already."""
        with self._lock:
            found = self.allocations.get((address - self.base) // GRAIN)
            if found is None or found.address != address or found.freed_by is not None:
                return False
            first = (address - self.base) // GRAIN
            found.freed_by = caller
            self.ends[first] = 0
            self._returned.append((first, max(1, -(-found.nbytes // GRAIN)) + 1))
            self.in_use -= found.nbytes
            for observer in OBSERVERS:
                observer(address, found.nbytes, False, caller)
        return True

    def contains(self, address: int) -> bool:
        return 0 <= address - self.base < self.nbytes

    def inside(self, addresses: np.ndarray, nbytes: int) -> np.ndarray:
        """Which of these addresses (uint64) begin `nbytes` bytes within one live allocation."""
        offsets = addresses - np.uint64(self.base)
        within = offsets < np.uint64(self.nbytes)
        owners = self.owners[np.where(within, offsets // np.uint64(GRAIN), 0).astype(np.int64)]
        ends = self.ends[np.maximum(owners, 1) - 1].astype(np.uint64)
        room = ends - np.minimum(addresses, ends)
        return within & (owners > 0) & (addresses < ends) & (room >= np.uint64(nbytes))

    def find(self, address: int) -> HeapAllocation | None:
        """The allocation, live or freed, that an address lies in or next to; None where there is none."""
        grain = (address - self.base) // GRAIN
        with self._lock:
            if not 0 <= grain < self.grains:
                return None
            before = self.allocations.get(int(self.owners[grain]) - 1)
            if before is not None and address < before.address + before.nbytes:
                return before
            after = self.allocations.get(int(self.owners[min(grain + 1, self.grains - 1)]) - 1)
            if after is None or before is None or after is before:
                return before or after
            return after if after.address - address < address - before.address - before.nbytes + 1 else before

    def live(self, since: int = 0) -> list[HeapAllocation]:
        """The allocations that haven't been freed, of those with a serial number above `since`, in order."""
        with self._lock:
            found = [each for each in self.allocations.values() if each.freed_by is None and each.serial > since]
        return sorted(found, key=lambda each: each.serial)

    def save(self) -> HeapState:
        """The contents of the heap now, for `restore`."""
        with self._lock:
            used, allocations = self._fresh, {at: (each, each.freed_by) for at, each in self.allocations.items()}
            runs = {length: list(starts) for length, starts in self._runs.items()}
            free = list(self._sizes), runs, list(self._returned)
            owners, ends = self.owners[:used].copy(), self.ends[:used].copy()
            data = ctypes.string_at(self.base, used * GRAIN)
            return HeapState(allocations, free, used, owners, ends, data, self.in_use, self.last)

    def restore(self, saved: HeapState) -> None:
        """Restore the contents and allocations that `save` returned."""
        with self._lock:
            self.owners[: self._fresh] = 0
            self._fresh, self.in_use, self.last = saved.fresh, saved.in_use, saved.last
            self._sizes, self._runs, self._returned = saved.runs
            self.owners[: self._fresh], self.ends[: self._fresh] = saved.owners, saved.ends
            self.allocations = {}
            for first, (each, freed_by) in saved.allocations.items():
                each.freed_by = freed_by
                self.allocations[first] = each
            ctypes.memmove(self.base, saved.data, len(saved.data))

    def retire(self) -> mmap.mmap:
        """Release the memory; keeping the result reserves the addresses, so that old pointers stay invalid."""
        if hasattr(self._mapping, "madvise"):
            self._mapping.madvise(getattr(mmap, "MADV_DONTNEED", 4))
        return self._mapping

    # ------------------------------------------------------------ which grains; these need the lock

    def _take(self, grains: int, alignment: int) -> int | None:
        """The first of `grains` free grains, at a multiple of `alignment` bytes."""
        first = -(-(self.base + self._fresh * GRAIN) // alignment) * alignment
        first = (first - self.base) // GRAIN
        if first + grains <= self.grains:
            if first > self._fresh:
                self._keep(self._fresh, first - self._fresh)
            self._fresh = first + grains
            return first
        found = self._fit(grains, alignment)
        if found is None and self._returned:
            self._recycle()
            return self._take(grains, alignment)
        return found

    def _fit(self, grains: int, alignment: int) -> int | None:
        """The best fitting free run."""
        wanted = grains + alignment // GRAIN - 1
        at = bisect.bisect_left(self._sizes, wanted)
        if at == len(self._sizes):
            return None
        length = self._sizes[at]
        starts = self._runs[length]
        start = starts.pop()
        if not starts:
            del self._runs[length], self._sizes[at]
        first = -(-(self.base + start * GRAIN) // alignment) * alignment
        first = (first - self.base) // GRAIN
        self._keep(start, first - start)
        self._keep(first + grains, start + length - first - grains)
        return first

    def _keep(self, start: int, length: int) -> None:
        """Remember a free run."""
        if length > 0:
            if length not in self._runs:
                self._runs[length] = []
                bisect.insort(self._sizes, length)
            self._runs[length].append(start)

    def _recycle(self) -> None:
        """Join freed memory to free runs as long as possible, and forget its allocations."""
        for first, length in self._returned:
            del self.allocations[first]
            self.owners[first : first + length] = 0
        runs = sorted([*self._returned, *((s, length) for length, starts in self._runs.items() for s in starts)])
        self._returned, self._sizes, self._runs = [], [], {}
        start, end = runs[0][0], runs[0][0]
        for first, length in runs:
            if first > end:
                self._keep(start, end - start)
                start = first
            end = first + length
        if end == self._fresh:
            self._fresh = start
        else:
            self._keep(start, end - start)


_heap: Heap | None = None
_wanted = DEFAULT
_lock = steady.lock(rank=4)


def current() -> Heap | None:
    """The heap; None until a kernel that allocates is launched."""
    return _heap


def ensure() -> Heap:
    """The heap, made now if there is none yet. MemoryError where this machine has no room for it."""
    global _heap
    with _lock:
        if _heap is None:
            _heap = Heap(_wanted)
        return _heap


def limit() -> int:
    """The size that the heap has or will have, in bytes."""
    return _wanted


def set_limit(nbytes: int) -> None:
    """Choose the heap's size; ValueError once a kernel that allocates has been launched, as on a GPU."""
    global _wanted
    with _lock:
        if _heap is not None and nbytes != _wanted:
            raise ValueError(
                "the heap's size is fixed once a kernel that uses malloc, free, new or delete was launched"
            )
        if not 0 < nbytes <= MOST:
            raise ValueError(f"a heap of {nbytes} bytes cannot be: give 1 byte to {size_text(MOST)}")
        _wanted = int(nbytes)


@contextmanager
def restored() -> Iterator[None]:
    """Save the heap, and restore it after the `with` block."""
    before = save()
    try:
        yield
    finally:
        restore(before)


def save() -> HeapState | None:
    """The contents of the heap now, for `restore`."""
    return None if _heap is None else _heap.save()


def restore(saved: HeapState | None) -> None:
    """Restore the heap to what it was when `save` was called; the heap must be the same or have been made since."""
    if _heap is not None:
        _heap.restore(saved or HeapState({}, ([], {}, [])))


_retired: deque[mmap.mmap] = deque(maxlen=256)


def reset() -> None:
    """Discard the heap, its contents and its size, as resetting a device does."""
    global _heap, _wanted
    with _lock:
        if _heap is not None:
            _retired.append(_heap.retire())
        _heap, _wanted = None, DEFAULT


def readable(address: int) -> int:
    """How many bytes from a global address on belong to the same live allocation (of the heap or not); 0 for none."""
    area = current()
    if area is not None and area.contains(address):
        found = area.find(address)
        if found is None or found.freed_by is not None or found.address > address:
            return 0
        return max(0, found.address + found.nbytes - address)
    starts, ends = table()
    index = int(np.searchsorted(starts, np.uint64(address), side="right")) - 1
    return max(0, int(ends[index]) - address) if index >= 0 else 0
