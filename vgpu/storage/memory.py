"""The virtual GPU's memory: aligned buffers of the host, with a list of who owns which address.

Every allocation starts at a multiple of 256 bytes, as `cudaMalloc`'s do, so that a warp's sectors are
counted as on hardware. At least 256 bytes that belong to nobody follow it, so that a small overrun never
lands in another array. What is freed keeps its address for a while, so that a use after free can be named.
"""

from __future__ import annotations

import bisect
import mmap
import weakref
from array import array as _words
from collections import Counter, deque
from dataclasses import dataclass
from itertools import count
from math import prod
from operator import index

import numpy as np
from numpy.lib.array_utils import byte_bounds

from vgpu.base import own, steady
from vgpu.base.errors import OutOfMemory
from vgpu.storage.host import available, size_text

ALIGNMENT = 256
RED_ZONE = 256
CONSTANT = "constant"  # the kind of memory that kernels can only read
FRESH = 0xFF  # every float is NaN and every signed integer -1: reading before writing shows
REMEMBERED = 512  # freed ranges that keep their address
REMEMBERED_BYTES = 64 << 20  # … as long as the memory they hold back stays below this
_MAPPED_FROM = 1 << 18  # from this size on memory comes from the system, and goes back to it when freed
_HUGE_FROM = 1 << 21
_COLOURS = 16  # big buffers start at different offsets in a page: equal ones collide in the CPU's caches


@dataclass(eq=False, slots=True, weakref_slot=True)
class _Block:
    """What the books say about one allocation; it outlives the `Allocation`."""

    address: int
    nbytes: int
    label: str | None
    serial: int
    kind: str
    buffer: np.ndarray | None
    mapping: mmap.mmap | None
    handle: weakref.ref | None = None
    freed: bool = False

    end = property(lambda self: self.address + self.nbytes)
    writable_end = property(lambda self: self.address if self.kind == CONSTANT else self.end)
    held = property(lambda self: 0 if self.mapping is not None else self.nbytes)


class Allocation:
    """One piece of device memory, freed when the last reference to it goes or by `free()`.

    `address` is a multiple of 256, `nbytes` the size asked for, `serial` counts allocations from 1. The host
    can read the memory behind it as long as this object lives, even after `free()`.
    """

    __slots__ = ("__weakref__", "_block", "_buffer", "_finalizer")

    def __init__(self, block: _Block):
        self._block = block
        self._buffer = block.buffer  # the books may forget the block while arrays over it are still about
        block.handle = weakref.ref(self)
        # A finalizer can run in the middle of anything, so it only leaves a note for the next call to read.
        self._finalizer = weakref.finalize(self, _notes.append, block)
        self._finalizer.atexit = False

    address = property(lambda self: self._block.address)
    nbytes = property(lambda self: self._block.nbytes)
    label = property(lambda self: self._block.label)
    serial = property(lambda self: self._block.serial)
    kind = property(lambda self: self._block.kind)
    freed = property(lambda self: self._block.freed)

    def free(self) -> None:
        """Give the memory back now: kernels may no longer touch it. Freeing twice does nothing."""
        with _lock:
            _settle()
            _retire(self._block)

    @property
    def __array_interface__(self) -> dict:
        return {"data": (self.address, False), "shape": (self.nbytes,), "typestr": "|u1", "version": 3}

    def __repr__(self) -> str:
        label = f" {self.label!r}" if self.label else ""
        return f"<Allocation #{self.serial}{label}: {self.nbytes} bytes{', freed' if self.freed else ''}>"


@dataclass(frozen=True)
class Place:
    """Where an address lies: `offset` bytes into `allocation`, past its end when the address is nobody's.

    `allocation` is None only when nothing lies at or below the address. For one that was freed it has the
    same fields (`address`, `nbytes`, `label`, `serial`, `freed`) but need not be an `Allocation` any more.
    """

    allocation: Allocation | _Block | None
    offset: int
    freed: bool


@dataclass(frozen=True)
class ArrayInfo:
    """What a kernel argument looked like at the launch; address, size and strides in bytes."""

    name: str
    address: int
    nbytes: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


ALLOCATED = own.Listeners()  # called as f(allocation) after each allocation
_lock = steady.lock(rank=4)
_notes: deque[_Block] = deque()  # blocks whose Allocation is gone, not yet taken off the books
_starts = _words("Q")  # addresses of the live blocks, sorted
_ends = _words("Q")  # … where each of them ends, and
_writable = _words("Q")  # … and where the part of it ends that kernels may write to
_live: list[_Block] = []  # the blocks themselves, in the same order
_freed: deque[_Block] = deque()  # freed blocks that keep their address, oldest first
_in_use: Counter[str] = Counter()  # kind of memory -> bytes
_limits: dict[str, int] = {}
_serials = count(1)
_table: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
_change: object | None = None  # a change of the books that is under way
_held_back = 0  # bytes of memory that the freed blocks keep from the host


def allocate(nbytes: int, label: str | None = None, kind: str = "device") -> Allocation:
    """Allocate device memory, filled with 0xFF bytes.

    `nbytes` may be 0. `label` names the memory in error messages; `kind` says whose books it is on
    ("device", "cupy", "pinned", CONSTANT). Raises OutOfMemory, with what was asked for and what is in use, when the
    host has no more.
    """
    nbytes = int(nbytes)
    if nbytes < 0:
        raise ValueError(f"cannot allocate {nbytes} bytes: a size cannot be negative")
    with _lock:
        _settle()
        _check_room(nbytes, kind)
        serial = next(_serials)
        address, buffer, mapping = _acquire(nbytes, serial)
        block = _Block(address, nbytes, label, serial, kind, buffer, mapping)
        allocation = Allocation(block)
        _enter(block)
    for listener in ALLOCATED:
        listener(allocation)
    return allocation


def array(shape, dtype, label: str | None = None, order: str = "C", kind: str = "device") -> np.ndarray:
    """A NumPy array over fresh device memory, which lives as long as the array or a view of it does.

    `shape` is an int or a tuple; the contents are 0xFF bytes. Raises OutOfMemory as `allocate` does.
    """
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype {dtype} holds Python objects: device memory holds plain numbers only")
    shape = tuple(map(index, shape)) if np.iterable(shape) else (index(shape),)
    allocation = allocate(prod(shape) * dtype.itemsize, label, kind)
    return view(allocation, shape, dtype, order=order)


def view(allocation: Allocation, shape, dtype, offset: int = 0, order: str = "C", strides=None) -> np.ndarray:
    """A NumPy array over part of an allocation: `offset` and `strides` in bytes; it keeps the memory alive.

    Raises ValueError when the array would not fit.
    """
    return np.ndarray(shape, dtype, buffer=np.asarray(allocation), offset=offset, order=order, strides=strides)


def adopt(array: np.ndarray) -> Allocation:
    """The allocation of host memory that kernels may use where it lies, such as a tensor's; it keeps `array` alive.

    What lies within an allocation gives that one, and what does not stays on the books while the `Allocation` lives.
    What goes past adopted memory, as a tensor does past its first row, makes one allocation of all, which those of
    the parts keep alive. Raises ValueError for what goes past memory of the virtual GPU's own.
    """
    low, high = byte_bounds(array)
    with _lock:
        _settle()
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
    """The allocation whose memory `array` (or the array it is a view of) is in; None for host memory."""
    base = array
    while base is not None:
        if isinstance(base, Allocation):
            return base
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    if not isinstance(array, np.ndarray) or array.nbytes == 0:
        return None
    with _lock:
        _settle()
        block = _below(array.ctypes.data)
        return block.handle() if block is not None and array.ctypes.data < block.end else None


def table() -> tuple[np.ndarray, np.ndarray]:
    """Starts and exact ends of the live allocations: two sorted uint64 arrays, made anew after a change."""
    return tables()[:2]


def tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `table`, and for each allocation where the part ends that kernels may write to: its start if it's constant."""
    global _table
    if _table is not None and not _notes:
        return _table
    with _lock:
        _settle()
        if _table is None:
            found = tuple(np.array(words, dtype=np.uint64) for words in (_starts, _ends, _writable))
            for words in found:
                words.flags.writeable = False
            _table = found
        return _table


def describe(address: int) -> Place:
    """Say where an address lies: in a live allocation, in one freed lately, or past the nearest below."""
    address = int(address)
    with _lock:
        _settle()
        below = _below(address)
        if below is not None and address < below.end:
            return Place(below.handle() or below, address - below.address, False)
        for block in reversed(_freed):
            if block.address <= address < block.end:
                return Place(block.handle() or block, address - block.address, True)
        if below is None:
            return Place(None, address, False)
        return Place(below.handle() or below, address - below.address, False)


def usage(kind: str | None = None) -> tuple[int, int]:
    """(bytes in use, live allocations), of one kind of memory or of all."""
    with _lock:
        _settle()
        if kind is None:
            return sum(_in_use.values()), len(_live)
        return _in_use[kind], sum(block.kind == kind for block in _live)


def set_limit(nbytes: int | None, kind: str) -> None:
    """Let `allocate` refuse what would take one kind of memory above `nbytes`; None or 0 lifts the limit."""
    _limits[kind] = int(nbytes or 0)


def limit(kind: str) -> int:
    """The limit `set_limit` has set, in bytes; 0 when there is none."""
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
    """Refuse what the host cannot hold: a system that overcommits would kill the process instead."""
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
        f"out of memory on the virtual GPU: {size_text(nbytes)} asked for, {size_text(in_use)} in use by "
        f"{len(_live)} arrays, and {why}. Delete arrays that are no longer needed (del name), "
        "or use smaller ones."
    )


def _settle() -> None:
    """Take off the books what the garbage collector has freed since the last call; needs the lock."""
    if _change is not None:
        _mend()
    while _notes:
        block = _notes[0]
        _retire(block)
        if _notes and _notes[0] is block:
            _notes.popleft()


def _begin() -> object:
    """Say that the books are about to change; the answer is for `_end`."""
    global _change
    _change = mine = object()
    return mine


def _end(mine: object) -> None:
    """The change is complete, unless a `__del__` that ran in its midst has changed the books as well."""
    global _change
    _change = None if _change is mine else object()


def _mend() -> None:
    """Write the books anew from the blocks, after a change that Ctrl-C broke off; needs the lock."""
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
    """Put one block on the books, in place of as many that begin within it; needs the lock."""
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
    """Take one block off the books and remember its address for a while; needs the lock."""
    global _table, _held_back
    if block.freed:
        if block.handle() is None:
            _let_go(block)
        return
    change = _begin()
    block.freed = True
    where = bisect.bisect_left(_starts, block.address)
    if where == len(_live) or _live[where] is not block:  # Ctrl-C came before it was on the books
        return _end(change)
    del _starts[where], _ends[where], _writable[where], _live[where]
    _in_use[block.kind] -= block.nbytes
    _table = None
    _freed.append(block)
    _held_back += block.held
    if block.handle() is None:
        _let_go(block)
    while len(_freed) > REMEMBERED or (_freed and _held_back > REMEMBERED_BYTES):
        oldest = _freed.popleft()
        _held_back -= oldest.held
        oldest.buffer = oldest.mapping = None
    _end(change)


def _let_go(block: _Block) -> None:
    """Nobody can read the block any more: give its pages back, but keep the addresses."""
    if block.mapping is not None and hasattr(block.mapping, "madvise"):
        block.mapping.madvise(getattr(mmap, "MADV_DONTNEED", 4))


def _below(address: int) -> _Block | None:
    """The live block with the greatest start not above `address`; needs the lock."""
    where = bisect.bisect_right(_starts, address)
    return _live[where - 1] if where else None
