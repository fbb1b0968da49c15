"""The virtual GPU's memory: aligned buffers of the host, with tables of their addresses.

Every allocation starts at a multiple of 256 bytes, like those of `cudaMalloc`, so that a warp's sectors are counted as
on hardware. At least 256 unused bytes follow it, so that a small overrun never lands in another array. Freed memory
keeps its address for a while, so that a use after free can be reported as one.
"""

from __future__ import annotations

import bisect
import mmap
import weakref
from array import array as _words
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from math import prod
from operator import index
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np
from numpy.lib.array_utils import byte_bounds

from vgpu.base import own, steady
from vgpu.base.errors import OutOfMemory
from vgpu.storage.host import available, size_text

ALIGNMENT = 256
RED_ZONE = 256
CONSTANT = "constant"  # the kind of memory that kernels can only read
FRESH = 0xFF  # every float is NaN and every signed integer -1: reading before writing shows
REMEMBERED = 4096  # freed ranges that keep their address: a module of CCCL or CuTe alone frees hundreds of variables
REMEMBERED_BYTES = 64 << 20  # … as long as the memory they hold back stays below this
_MAPPED_FROM = 1 << 18  # from this size on memory comes from the system, and goes back to it when freed
_HUGE_FROM = 1 << 21
_COLOURS = 16  # big buffers start at different offsets in a page: equal ones collide in the CPU's caches
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
Order: TypeAlias = Literal["C", "F"]


def _no_allocation() -> Allocation | None:
    return None


@dataclass(eq=False, slots=True, weakref_slot=True)
class _Block:
    """The table entry of one allocation; it outlives the `Allocation`, which `handle()` returns while it exists."""

    address: int
    nbytes: int
    label: str | None
    serial: int
    kind: str
    buffer: np.ndarray | None
    mapping: mmap.mmap | None
    handle: Callable[[], Allocation | None] = _no_allocation
    freed: bool = False

    end = property(lambda self: self.address + self.nbytes)
    writable_end = property(lambda self: self.address if self.kind == CONSTANT else self.end)
    held = property(lambda self: 0 if self.mapping is not None else self.nbytes)


class Allocation:
    """One allocation of device memory, freed by `free()` or when the last reference to it goes.

    `address` is a multiple of 256, `nbytes` the requested size, `serial` counts allocations from 1. The host can read
    the memory as long as this object exists, even after `free()`.
    """

    __slots__ = ("__weakref__", "_block", "_buffer", "_finalizer")

    def __init__(self, block: _Block):
        self._block = block
        self._buffer: Any = block.buffer  # the tables may drop the block while arrays over it still exist
        block.handle = weakref.ref(self)
        # A finalizer can run in the middle of anything, so it only queues the block for the next call.
        self._finalizer = weakref.finalize(self, _finalized.append, block)
        self._finalizer.atexit = False

    address = property(lambda self: self._block.address)
    nbytes = property(lambda self: self._block.nbytes)
    label = property(lambda self: self._block.label)
    serial = property(lambda self: self._block.serial)
    kind = property(lambda self: self._block.kind)
    freed = property(lambda self: self._block.freed)

    def free(self) -> None:
        """Free the memory now: kernels may no longer access it. Freeing twice does nothing."""
        with _lock:
            _retire_finalized()
            _retire(self._block)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"data": (self.address, False), "shape": (self.nbytes,), "typestr": "|u1", "version": 3}

    def __repr__(self) -> str:
        label = f" {self.label!r}" if self.label else ""
        return f"<Allocation #{self.serial}{label}: {self.nbytes} bytes{', freed' if self.freed else ''}>"


@dataclass(frozen=True)
class AddressInfo:
    """Where an address lies: `offset` bytes into `allocation`, or past its end when it lies in no allocation.

    `allocation` is None only when there is none at or below the address. A freed one has the same fields (`address`,
    `nbytes`, `label`, `serial`, `freed`), but need not be an `Allocation` any more.
    """

    allocation: Allocation | _Block | None
    offset: int
    freed: bool


@dataclass(frozen=True)
class ArrayInfo:
    """A kernel's array argument at the launch; address, size and strides in bytes."""

    name: str
    address: int
    nbytes: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def holds(self, address: int) -> bool:
        """Whether the address is one of its bytes, or where an empty array stands."""
        return 0 <= address - self.address < max(1, self.nbytes)


ALLOCATED: own.Listeners[Callable[[Allocation], object]] = own.Listeners()  # called after each allocation
_lock = steady.lock(rank=4)
_finalized: deque[_Block] = deque()  # blocks whose Allocation is gone, not yet removed from the tables
_starts = _words("Q")  # addresses of the live blocks, sorted
_ends = _words("Q")  # … where each of them ends, and
_writable = _words("Q")  # … and where the part of it ends that kernels may write to
_live: list[_Block] = []  # the blocks themselves, in the same order
_freed: deque[_Block] = deque()  # freed blocks that keep their address, oldest first
_in_use: Counter[str] = Counter()  # kind of memory -> bytes
_limits: dict[str, int] = {}
_serials = count(1)
_table: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
_change: object | None = None  # identifies an unfinished change of the tables
_held_back = 0  # bytes of memory that the freed blocks keep from the host


def allocate(nbytes: int, label: str | None = None, kind: str = "device") -> Allocation:
    """Allocate device memory, filled with 0xFF bytes.

    `nbytes` may be 0. `label` names the memory in error messages; `kind` is what it is counted as ("device", "cupy",
    "pinned", CONSTANT). Raises OutOfMemory, with the requested bytes and those in use, when the host has no more.
    """
    nbytes = int(nbytes)
    if nbytes < 0:
        raise ValueError(f"cannot allocate {nbytes} bytes: a size cannot be negative")
    with _lock:
        _retire_finalized()
        _check_room(nbytes, kind)
        serial = next(_serials)
        address, buffer, mapping = _acquire(nbytes, serial)
        block = _Block(address, nbytes, label, serial, kind, buffer, mapping)
        allocation = Allocation(block)
        _enter(block)
    for listener in ALLOCATED:
        listener(allocation)
    return allocation


def array(shape: Shape, dtype: Any, label: str | None = None, order: Order = "C", kind: str = "device") -> np.ndarray:
    """A NumPy array over fresh device memory, which is freed when the array and all its views are gone.

    `shape` is an int or a tuple; the contents are 0xFF bytes. Raises OutOfMemory as `allocate` does.
    """
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype {dtype} holds Python objects: device memory holds plain numbers only")
    sizes = tuple(map(index, shape)) if isinstance(shape, Sequence) or np.iterable(shape) else (index(shape),)
    allocation = allocate(prod(sizes) * dtype.itemsize, label, kind)
    return view(allocation, sizes, dtype, order=order)


def view(
    allocation: Allocation,
    shape: Shape,
    dtype: Any,
    offset: int = 0,
    order: Order = "C",
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """A NumPy array over part of an allocation: `offset` and `strides` in bytes; it keeps the memory alive.

    Raises ValueError when the array would not fit.
    """
    return np.ndarray(shape, dtype, buffer=np.asarray(allocation), offset=offset, order=order, strides=strides)


def adopt(array: np.ndarray) -> Allocation:
    """An allocation of host memory, such as a tensor's, that kernels use in place; it keeps `array` alive.

    Memory within an existing allocation returns that one. Memory that overlaps adopted allocations, as a tensor
    overlaps its first row, makes one allocation of all of them, which the old ones keep alive. Raises ValueError for
    memory that overlaps an allocation of the virtual GPU and extends beyond it.
    """
    low, high = byte_bounds(array)
    with _lock:
        _retire_finalized()
        first, last = bisect.bisect_right(_ends, low), bisect.bisect_left(_starts, high)
        parts = [(block, handle) for block in _live[first:last] if (handle := block.handle()) is not None]
        for block, handle in parts:
            if block.address <= low and high <= block.end:
                return handle
            if block.kind != "adopted":
                raise ValueError(f"a part of this memory is {handle!r} of the virtual GPU: take only what lies within")
        low, high = min([low, *_starts[first:last]]), max([high, *_ends[first:last]])
        whole = _Block(low, high - low, None, next(_serials), "adopted", array, None)
        allocation = Allocation(whole)
        allocation._buffer = array, [handle._buffer for _, handle in parts]
        whole.buffer = None  # the allocation alone keeps it
        _enter(whole, instead=last - first)
        for _, handle in parts:
            handle._block, handle._buffer = whole, allocation
    return allocation


def owner(array: np.ndarray) -> Allocation | None:
    """The allocation that contains the memory of `array` (or of the array it is a view of); None for host memory."""
    base: Any = array
    while base is not None:
        if isinstance(base, Allocation):
            return base
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    if not isinstance(array, np.ndarray) or array.nbytes == 0:
        return None
    with _lock:
        _retire_finalized()
        block = _below(array.ctypes.data)
        return block.handle() if block is not None and array.ctypes.data < block.end else None


def table() -> tuple[np.ndarray, np.ndarray]:
    """Starts and exact ends of the live allocations: two sorted uint64 arrays, recomputed after a change."""
    return tables()[:2]


def tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `table`, and the end of each allocation's writable part: its start if it's constant memory."""
    global _table
    if _table is not None and not _finalized:
        return _table
    with _lock:
        _retire_finalized()
        found = _table
        if found is None:
            starts, ends, writable = (np.array(words, dtype=np.uint64) for words in (_starts, _ends, _writable))
            for words in (starts, ends, writable):
                words.flags.writeable = False
            found = _table = starts, ends, writable
        return found


def describe(address: int) -> AddressInfo:
    """Where an address lies: in a live allocation, in one freed recently, or past the end of the nearest below."""
    address = int(address)
    with _lock:
        _retire_finalized()
        below = _below(address)
        if below is not None and address < below.end:
            return AddressInfo(below.handle() or below, address - below.address, False)
        for block in reversed(_freed):
            if block.address <= address < block.end:
                return AddressInfo(block.handle() or block, address - block.address, True)
        if below is None:
            return AddressInfo(None, address, False)
        return AddressInfo(below.handle() or below, address - below.address, False)


def usage(kind: str | None = None) -> tuple[int, int]:
    """(bytes in use, live allocations), of one kind of memory or of all."""
    with _lock:
        _retire_finalized()
        if kind is None:
            return sum(_in_use.values()), len(_live)
        return _in_use[kind], sum(block.kind == kind for block in _live)


def set_limit(nbytes: int | None, kind: str) -> None:
    """Limit one kind of memory to `nbytes` bytes; None or 0 removes the limit."""
    _limits[kind] = int(nbytes or 0)


def limit(kind: str) -> int:
    """The limit set by `set_limit`, in bytes; 0 when there is none."""
    return _limits.get(kind, 0)


def _acquire(nbytes: int, serial: int) -> tuple[int, np.ndarray, mmap.mmap | None]:
    """Host memory for one allocation: (aligned address, the whole buffer, its mapping when it has one)."""
    colour = (serial % _COLOURS) * ALIGNMENT if nbytes >= _MAPPED_FROM else 0
    room = nbytes + ALIGNMENT + colour + RED_ZONE
    mapping = None
    try:
        if nbytes >= _MAPPED_FROM and hasattr(mmap, "MAP_PRIVATE"):
            mapping = mmap.mmap(-1, room, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            if nbytes >= _HUGE_FROM and hasattr(mmap, "MADV_HUGEPAGE"):
                mapping.madvise(mmap.MADV_HUGEPAGE)  # halves the time of the first touch
            buffer = np.frombuffer(mapping, np.uint8)
        else:
            buffer = np.empty(room, np.uint8)
    except (OSError, MemoryError, ValueError):
        raise OutOfMemory(_no_room(nbytes, "this machine has no more")) from None
    address = -(-buffer.ctypes.data // ALIGNMENT) * ALIGNMENT + colour
    first = address - buffer.ctypes.data
    buffer[first : first + nbytes] = FRESH
    return address, buffer, mapping


def _check_room(nbytes: int, kind: str) -> None:
    """Raise OutOfMemory for more than the host has: a system that overcommits would kill the process instead."""
    ceiling = _limits.get(kind, 0)
    if ceiling and _in_use[kind] + nbytes > ceiling:
        raise OutOfMemory(_no_room(nbytes, f"the limit set for this memory is {size_text(ceiling)}"))
    if nbytes >= 64 << 20:
        left = available()
        if left is not None and nbytes > 0.9 * left:
            raise OutOfMemory(_no_room(nbytes, f"this machine has about {size_text(left)} left"))


def _no_room(nbytes: int, why: str) -> str:
    in_use = sum(_in_use.values())
    return (
        f"out of memory on the virtual GPU: {size_text(nbytes)} requested, {size_text(in_use)} in use by "
        f"{len(_live)} arrays, and {why}. Delete arrays that are no longer needed (del name), "
        "or use smaller ones."
    )


def _retire_finalized() -> None:
    """Remove from the tables what the garbage collector has freed since the last call; needs the lock."""
    if _change is not None:
        _rebuild()
    while _finalized:
        block = _finalized[0]
        _retire(block)
        if _finalized and _finalized[0] is block:
            _finalized.popleft()


def _begin() -> object:
    """Mark the beginning of a change of the tables; the result is for `_end`."""
    global _change
    _change = mine = object()
    return mine


def _end(mine: object) -> None:
    """Mark the end of a change, unless a `__del__` that ran meanwhile has changed the tables as well."""
    global _change
    _change = None if _change is mine else object()


def _rebuild() -> None:
    """Rebuild the tables from the blocks, after Ctrl-C interrupted a change; needs the lock."""
    global _change, _table, _held_back
    kept = {block.address: block for block in _live if not block.freed and block.handle() is not None}
    _live[:] = [kept[address] for address in sorted(kept)]
    _starts[:] = _words("Q", (block.address for block in _live))
    _ends[:] = _words("Q", (block.end for block in _live))
    _writable[:] = _words("Q", (block.writable_end for block in _live))
    _in_use.clear()
    for block in _live:
        _in_use[block.kind] += block.nbytes
    _held_back = sum(block.held for block in _freed)
    _change = _table = None


def _enter(block: _Block, instead: int = 0) -> None:
    """Add one block to the tables, replacing the `instead` blocks that begin within it; needs the lock."""
    global _table
    change = _begin()
    where = bisect.bisect_left(_starts, block.address)
    past = where + instead
    for left in _live[where:past]:
        _in_use[left.kind] -= left.nbytes
    _live[where:past] = [block]
    _starts[where:past] = _words("Q", [block.address])
    _ends[where:past] = _words("Q", [block.end])
    _writable[where:past] = _words("Q", [block.writable_end])
    _in_use[block.kind] += block.nbytes
    _table = None
    _end(change)


def _retire(block: _Block) -> None:
    """Remove one block from the tables and remember its address for a while; needs the lock."""
    global _table, _held_back
    if block.freed:
        if block.handle() is None:
            _release_pages(block)
        return
    change = _begin()
    block.freed = True
    where = bisect.bisect_left(_starts, block.address)
    if where == len(_live) or _live[where] is not block:  # Ctrl-C came before it was in the tables
        return _end(change)
    del _starts[where], _ends[where], _writable[where], _live[where]
    _in_use[block.kind] -= block.nbytes
    _table = None
    _freed.append(block)
    _held_back += block.held
    if block.handle() is None:
        _release_pages(block)
    while len(_freed) > REMEMBERED or (_freed and _held_back > REMEMBERED_BYTES):
        oldest = _freed.popleft()
        _held_back -= oldest.held
        oldest.buffer = oldest.mapping = None
    _end(change)


def _release_pages(block: _Block) -> None:
    """Release the pages of a block that no array refers to any more, but keep its addresses."""
    if block.mapping is not None and hasattr(block.mapping, "madvise"):
        block.mapping.madvise(getattr(mmap, "MADV_DONTNEED", 4))


def _below(address: int) -> _Block | None:
    """The live block with the greatest start not above `address`; needs the lock."""
    where = bisect.bisect_right(_starts, address)
    return _live[where - 1] if where else None
