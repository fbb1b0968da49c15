"""The heap that kernels allocate from with `malloc` and `new`: one area of a fixed size, and its books.

The area is cut into grains of 16 bytes. Two tables lie beside it, which compiled code and the interpreter look
addresses up in: `owners` says for each grain which piece it belongs to, `ends` where that piece ends (0 when it has
been freed). At least one grain that belongs to nobody lies between two pieces. What is freed is given out again only
when nothing fresh is left, so that a use after free meets a freed piece and not another thread's memory.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from vgpu.base import own, steady
from vgpu.ptx.lines import line_of
from vgpu.storage.host import available, size_text
from vgpu.storage.memory import ALIGNMENT, FRESH, table

GRAIN = 16  # CUDA C++ Programming Guide, "Dynamic Global Memory Allocation": pointers are aligned to 16 bytes
DEFAULT = 8 << 20  # … and the heap has 8 MB if nobody asked for another size
MOST = 1 << 34  # the numbers of grains fit in 31 bits
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
OBSERVERS: list[Callable] = []  # called as f(address, nbytes, alive, caller) after each change; who has `own.TURN` adds
LAUNCHES = own.Listeners()  # called as f(launch) before each launch that can call the host


class Piece:
    """What the books say about one allocation.

    caller, freed_by: (launch, site, block, thread) of who allocated and freed it, as the engine told; serial counts
    allocations from 1.
    """

    __slots__ = ("address", "caller", "freed_by", "nbytes", "serial")

    def __init__(self, address: int, nbytes: int, caller: tuple, serial: int):
        self.address, self.nbytes, self.caller, self.serial = address, nbytes, caller, serial
        self.freed_by: tuple | None = None


class Launch:
    """One launch, as far as the books remember it: which kernel, how many threads and blocks, where its lines are."""

    def __init__(self, kernel, grid, block, sites=None):
        self.kernel, self.grid, self.block, self._sites = kernel, grid, block, sites

    @classmethod
    def of(cls, run) -> Launch:
        """A launch of compiled code, which tells sites by number."""
        return cls(run.kernel, run.grid, run.block, run.lowered.sites)

    def line(self, site: int | None) -> int | None:
        """The user's line of a call; the interpreter tells lines and not sites."""
        if self._sites is None:
            return site
        files = self.kernel.module.module.files
        own = {number for number, name in files.items() if name == self.kernel.filename}
        return line_of(self._sites[site].instruction.location, own)


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
        self.owners = np.zeros(self.grains, np.int32)  # the number of the piece's first grain, plus 1
        self.ends = np.zeros(self.grains, np.int64)
        self.pieces: dict[int, Piece] = {}  # by the first grain, freed ones too until they are given out again
        self.in_use = 0  # bytes that were asked for and not yet freed
        self._fresh = 0  # the first grain that was never given out
        self._sizes: list[int] = []  # lengths of free runs, sorted
        self._runs: dict[int, list[int]] = {}  # … and where runs of that length begin
        self._returned: list[tuple[int, int]] = []  # runs that were freed, not yet given out again
        self.last = 0  # the serial number of the last allocation
        self._lock = steady.lock(rank=5)

    def allocate(self, nbytes: int, caller: tuple, alignment: int = GRAIN) -> int:
        """An address of `nbytes` fresh bytes at a multiple of `alignment`, 0 when there is no room for them.

        Of 0 bytes too: a pointer to nothing, which can be freed.
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
            self.pieces[first] = Piece(address, nbytes, caller, self.last)
            self.ends[first] = address + nbytes
            self.owners[first : first + grains] = first + 1
            self.in_use += nbytes
            for observer in OBSERVERS:
                observer(address, nbytes, True, caller)
        return address

    def free(self, address: int, caller: tuple) -> bool:
        """Take back what `allocate` gave; False for every other address, and for what is free already."""
        with self._lock:
            piece = self.pieces.get((address - self.base) // GRAIN)
            if piece is None or piece.address != address or piece.freed_by is not None:
                return False
            first = (address - self.base) // GRAIN
            piece.freed_by = caller
            self.ends[first] = 0
            self._returned.append((first, max(1, -(-piece.nbytes // GRAIN)) + 1))
            self.in_use -= piece.nbytes
            for observer in OBSERVERS:
                observer(address, piece.nbytes, False, caller)
        return True

    def contains(self, address: int) -> bool:
        return 0 <= address - self.base < self.nbytes

    def inside(self, addresses: np.ndarray, nbytes: int) -> np.ndarray:
        """Which of these addresses (uint64) have `nbytes` bytes of one live piece behind them."""
        offsets = addresses - np.uint64(self.base)
        within = offsets < np.uint64(self.nbytes)
        owners = self.owners[np.where(within, offsets // np.uint64(GRAIN), 0).astype(np.int64)]
        ends = self.ends[np.maximum(owners, 1) - 1].astype(np.uint64)
        room = ends - np.minimum(addresses, ends)
        return within & (owners > 0) & (addresses < ends) & (room >= np.uint64(nbytes))

    def find(self, address: int) -> Piece | None:
        """The piece, live or freed, that an address lies in or beside; None where nothing is near."""
        grain = (address - self.base) // GRAIN
        with self._lock:
            if not 0 <= grain < self.grains:
                return None
            before = self.pieces.get(int(self.owners[grain]) - 1)
            if before is not None and address < before.address + before.nbytes:
                return before
            after = self.pieces.get(int(self.owners[min(grain + 1, self.grains - 1)]) - 1)
            if after is None or before is None or after is before:
                return before or after
            return after if after.address - address < address - before.address - before.nbytes + 1 else before

    def live(self, since: int = 0) -> list[Piece]:
        """The pieces that nobody has freed, of those whose serial number is above `since`, in their order."""
        with self._lock:
            found = [p for p in self.pieces.values() if p.freed_by is None and p.serial > since]
        return sorted(found, key=lambda piece: piece.serial)

    def save(self) -> tuple:
        """All that `restore` needs to bring the heap back to what it is now."""
        with self._lock:
            used, books = self._fresh, {n: (p, p.freed_by) for n, p in self.pieces.items()}
            runs = {length: list(starts) for length, starts in self._runs.items()}
            free = list(self._sizes), runs, list(self._returned)
            tables = self.owners[:used].copy(), self.ends[:used].copy()
            return used, books, free, tables, ctypes.string_at(self.base, used * GRAIN), self.in_use, self.last

    def restore(self, saved: tuple) -> None:
        """Bring back what `save` gave: what is in the heap, and who owns it."""
        with self._lock:
            self.owners[: self._fresh] = 0
            self._fresh, books, (self._sizes, self._runs, self._returned), tables, data, self.in_use, self.last = saved
            self.owners[: self._fresh], self.ends[: self._fresh] = tables
            self.pieces = {}
            for first, (piece, freed_by) in books.items():
                piece.freed_by = freed_by
                self.pieces[first] = piece
            ctypes.memmove(self.base, data, len(data))

    def retire(self) -> mmap.mmap:
        """Give the memory back; who keeps what this returns keeps the addresses, so that old pointers lead nowhere."""
        if hasattr(self._mapping, "madvise"):
            self._mapping.madvise(getattr(mmap, "MADV_DONTNEED", 4))
        return self._mapping

    # ------------------------------------------------------------ which grains; these need the lock

    def _take(self, grains: int, alignment: int) -> int | None:
        """The first of so many free grains, at a multiple of `alignment` bytes."""
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
        """The best fitting run that was used before."""
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
        """Join what has been freed to runs that are as long as can be, and forget who had it."""
        for first, length in self._returned:
            del self.pieces[first]
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
    """The heap, None as long as no kernel that allocates has been launched."""
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
    """Within a `with` block kernels may allocate and free; afterwards the heap is as it was before."""
    before = save()
    try:
        yield
    finally:
        restore(before)


def save() -> tuple | None:
    """What is in the heap now, for `restore`."""
    return None if _heap is None else _heap.save()


def restore(saved: tuple | None) -> None:
    """Bring back what was in the heap when `save` was called; the heap must be the same or have been made since."""
    if _heap is not None:
        _heap.restore(saved or (0, {}, ([], {}, []), ([], []), b"", 0, 0))


_retired: deque[mmap.mmap] = deque(maxlen=256)


def reset() -> None:
    """Forget the heap and all that is in it, and its size, as resetting a device does."""
    global _heap, _wanted
    with _lock:
        if _heap is not None:
            _retired.append(_heap.retire())
        _heap, _wanted = None, DEFAULT


def readable(address: int) -> int:
    """How many bytes may be read from an address of global memory on: of a live piece of the heap, or an allocation."""
    area = current()
    if area is not None and area.contains(address):
        piece = area.find(address)
        alive = piece is not None and piece.freed_by is None and piece.address <= address
        return max(0, piece.address + piece.nbytes - address) if alive else 0
    starts, ends = table()
    index = int(np.searchsorted(starts, np.uint64(address), side="right")) - 1
    return max(0, int(ends[index]) - address) if index >= 0 else 0
