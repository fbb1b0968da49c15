"""What the host asks of the GPU, in order: queues (streams), and the operations given to them.

Everything runs at once, in the order of the program, which is one of the orders CUDA allows. What CUDA would have
been free to do instead can be told from a recording: while a recorder listens, every operation is noted with its
queue, its bytes or launch, and the memory it touches. `helpers.streams` makes schedules and hazards of that. A queue
under capture runs nothing: `graphs` keeps the operation for later.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
import weakref
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from helpers.vgpu import memory
from helpers.vgpu.errors import VirtualGPUError
from helpers.vgpu.memory_host import size_text

_handles = itertools.count(0x1000, 0x10)
_local = threading.local()


class CUDARuntimeError(VirtualGPUError):
    """A call of CUDA's runtime failed; the message begins with CUDA's name for the error."""


class CaptureError(CUDARuntimeError):
    """Something that a stream under capture does not allow."""


@dataclass(eq=False)
class Queue:
    """A stream as CUDA sees it: its handle, whether it synchronises with the legacy default stream, its priority."""

    handle: int
    blocking: bool = True
    priority: int = 0
    kind: str = "stream"  # or "legacy" or "per-thread": the two default streams
    number: int | None = None  # what a recording calls it
    capture: object = field(default=None, repr=False)


LEGACY = Queue(0, kind="legacy")
_queues: weakref.WeakValueDictionary[int, Queue] = weakref.WeakValueDictionary({0: LEGACY, 1: LEGACY})
PRIORITIES = (-5, 0)  # the most and the least urgent, as on Volta and later


def new_queue(blocking: bool = True, priority: int = 0) -> Queue:
    """A fresh stream; a priority out of range is moved to its end, as CUDA does."""
    queue = Queue(next(_handles), blocking, min(max(int(priority), PRIORITIES[0]), PRIORITIES[1]))
    _queues[queue.handle] = queue
    return queue


def find_queue(handle: int) -> Queue:
    """The stream with this handle: 0 or 1 the legacy default stream, 2 this thread's, others as they were made."""
    if handle == 2:
        if not hasattr(_local, "default"):
            _local.default = Queue(2, kind="per-thread")
        return _local.default
    return _queues.setdefault(handle, Queue(handle))


@dataclass(frozen=True, eq=False)
class Access:
    """Memory that an operation touches: `starts` and `ends` of its pieces (sorted addresses), and what it is called.

    `grain` is how exact the addresses are: kernels are known by sectors of 32 bytes, copies by the byte.
    """

    starts: np.ndarray
    ends: np.ndarray
    writes: bool
    name: str = ""
    grain: int = 1


def access(array: np.ndarray, writes: bool, name: str = "") -> tuple[Access, ...]:
    """The bytes of a NumPy array (of the host, or over device memory), from the first to the last."""
    if array.size == 0:
        return ()
    first, past = np.lib.array_utils.byte_bounds(array)
    return (span(first, past - first, writes, name),)


def span(address: int, nbytes: int, writes: bool, name: str = "") -> Access:
    """`nbytes` bytes from an address on."""
    return Access(np.array([address], np.uint64), np.array([address + nbytes], np.uint64), writes, name)


@dataclass(frozen=True, eq=False)
class Operation:
    """One thing the host asked for.

    `kind` is "kernel", "H2D", "D2H", "D2D", "memset", "array" (work that NumPy does here), "host function", "record",
    "wait", "synchronise", "graph", "host read" or "host write". `waits` says whether the host waits for its end;
    `pinned` what the host's side of a copy is (None where there is none); `asynchronous` whether the call asked
    not to wait. `nodes` are a graph's operations, each with the numbers of those it follows.
    """

    kind: str
    queue: Queue | None = None
    label: str = ""
    nbytes: int = 0
    pinned: bool | None = None
    asynchronous: bool = False
    waits: bool = False
    accesses: tuple[Access, ...] = ()
    kernel: object = None
    counters: object = None
    event: object = None
    nodes: tuple[tuple[Operation, tuple[int, ...]], ...] = ()


_RECORDERS: list[list[Operation]] = []
capturing: list = []  # the captures under way
_WATCHED = 64  # copies, at most
_in_flight: list[tuple[Operation, np.ndarray, int]] = []  # copies whose source in pinned memory must not change yet


def recording() -> bool:
    """Whether anybody listens."""
    return bool(_RECORDERS)


def unheard() -> bool:
    """Whether nobody records and nothing is captured: then work is done and nothing else."""
    return not _RECORDERS and not capturing


def note(operation: Operation) -> None:
    """Tell every recorder."""
    if _RECORDERS:
        _forget_overwritten(operation)
        if operation.kind in ("synchronise", "H2D") or operation.waits:
            _look_for_changed_sources(operation if operation.kind == "H2D" else None)
        for recorder in _RECORDERS:
            recorder.append(operation)


@contextlib.contextmanager
def listening():
    """A list that fills with the operations of the with block; kernels are counted meanwhile."""
    from helpers.vgpu import launch

    heard: list[Operation] = []
    if not _RECORDERS:
        launch.FINISHED.append(_finished)
    _RECORDERS.append(heard)
    try:
        yield heard
    finally:
        _look_for_changed_sources()
        _RECORDERS[:] = [recorder for recorder in _RECORDERS if recorder is not heard]
        if not _RECORDERS:
            launch.FINISHED.remove(_finished)
            _in_flight.clear()


def submit(queue: Queue, operation: Operation, run: Callable[[], Operation | None]) -> None:
    """Run an operation in a queue and note it; or keep it, when the queue is under capture.

    `run` does the work, and may return the operation with what only the run has shown.
    """
    from helpers.vgpu import graphs

    operation = replace(operation, queue=queue)
    graphs.check(queue, operation)
    if queue.capture is not None:
        queue.capture.add(queue, operation, run)
        return
    found = run() or operation
    note(found)
    if recording() and found.kind == "H2D" and found.pinned and not found.waits:
        for touched in found.accesses:
            if not touched.writes:
                place = memory.describe(int(touched.starts[0]))
                source = memory.view(place.allocation, found.nbytes, np.uint8, offset=place.offset)
                _in_flight.append((found, source, zlib.crc32(source)))


def kernel(queue: Queue, loaded, grid, block, params, arrays, shared_bytes: int = 0, finish=None, **options) -> None:
    """Launch a loaded kernel in a queue; `finish` is called after it has run."""
    from helpers.vgpu import launch

    if unheard():
        launch.launch(loaded, grid, block, params, arrays, shared_bytes, **options)
        if finish is not None:
            finish()
        return
    blocks = _sizes(grid)
    label = f"{loaded.name} ({'×'.join(map(str, blocks))} block{'s' * (math.prod(blocks) != 1)})"
    asked = Operation("kernel", label=label, asynchronous=True, kernel=loaded)
    if queue.capture is not None:
        launch.check_dimensions(grid, block)

    def run() -> Operation | None:
        _local.seen = None
        launch.launch(loaded, grid, block, params, arrays, shared_bytes, **options)
        if finish is not None and replayed:
            finish()
        if _local.seen is None:
            return None
        counters, touched = _local.seen
        return replace(asked, queue=queue, counters=counters, accesses=_named(touched, arrays))

    replayed = queue.capture is not None
    submit(queue, asked, run)
    if finish is not None and not replayed:
        finish()  # after the launch was noted: it may copy results back


def copy(queue: Queue, kind: str, host: np.ndarray | None, device: np.ndarray, run, *, asynchronous: bool) -> None:
    """A copy between host and device memory ("H2D", "D2H"; without `host` a "memset"): `run` does it.

    From or to pageable memory the host waits whatever it asked for: the data goes through a staging buffer.
    """
    if unheard():
        run()
        return
    pinned = None if host is None else is_pinned(host)
    touched = access(device, kind != "D2H")
    if host is not None:
        touched += access(host, kind == "D2H", "the host's buffer")
    asked = Operation(
        kind,
        label=f"{kind} {size_text(device.nbytes)}",
        nbytes=device.nbytes,
        pinned=pinned,
        asynchronous=asynchronous,
        waits=host is not None and not (asynchronous and pinned),
        accesses=touched,
    )
    submit(queue, asked, lambda: run() and None)


def synchronise(queue: Queue | None = None, event=None) -> None:
    """The host waits: for a queue, for an event, or for everything; an error under capture."""
    if unheard():
        return
    from helpers.vgpu import graphs

    operation = Operation("synchronise", queue, event=event, waits=True)
    graphs.check(queue, operation)
    note(operation)


def refuse_captured(queue: Queue, what: str) -> None:
    """Raise for work that NumPy does here when the queue is under capture: it could not be run again."""
    if not capturing:
        return
    from helpers.vgpu import graphs

    if queue.capture is not None:
        graphs.abandon(queue)
        raise graphs.uncapturable(what)
    graphs.check(queue, Operation("array", queue, what))


# ---------------------------------------------------------------- pinned memory

_registered: list[tuple[int, int]] = []  # host memory pinned for a while: first address, one past the last


def is_pinned(array: np.ndarray) -> bool:
    """Whether a host array lies in pinned memory."""
    if array.size == 0:
        return True
    first, past = np.lib.array_utils.byte_bounds(array)
    if any(start <= first and past <= end for start, end in _registered):
        return True
    place = memory.describe(first)
    inside = place.allocation is not None and not place.freed and place.offset < place.allocation.nbytes
    return inside and place.allocation.kind == "pinned"


@contextlib.contextmanager
def registered(arrays):
    """Host arrays pinned for the length of a with block."""
    bounds = [np.lib.array_utils.byte_bounds(array) for array in arrays if array.size]
    _registered.extend(bounds)
    try:
        yield
    finally:
        for bound in bounds:
            _registered.remove(bound)


class PinnedArray(np.ndarray):
    """A host array in pinned memory; while a recorder listens, the host's reads and writes of it are noted."""

    def __getitem__(self, key):
        part = super().__getitem__(key)
        if not isinstance(part, PinnedArray):
            self._touched(False)
        return part

    def __setitem__(self, key, value) -> None:
        self._touched(True)
        super().__setitem__(key, value)

    def __iter__(self):
        self._touched(False)
        return super().__iter__()

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **named):
        for value in inputs:
            if isinstance(value, PinnedArray):
                value._touched(False)
        for value in out:
            if isinstance(value, PinnedArray):
                value._touched(True)
        inputs = [value.view(np.ndarray) if isinstance(value, PinnedArray) else value for value in inputs]
        plain = tuple(value.view(np.ndarray) if isinstance(value, PinnedArray) else value for value in out)
        result = getattr(ufunc, method)(*inputs, **({"out": plain} if out else {}), **named)
        return out[0] if len(out) == 1 else result

    def __array_function__(self, function, types, args, kwargs):
        self._touched(False)
        return super().__array_function__(function, types, args, kwargs)

    def tolist(self):
        self._touched(False)
        return super().tolist()

    def item(self, *args):
        self._touched(False)
        return super().item(*args)

    def copy(self, order="C"):
        self._touched(False)
        return self.view(np.ndarray).copy(order)

    def fill(self, value) -> None:
        self._touched(True)
        super().fill(value)

    def _touched(self, writes: bool) -> None:
        if _RECORDERS:
            kind = "host write" if writes else "host read"
            touched = access(self.view(np.ndarray), writes, "the host's buffer")
            before = _RECORDERS[-1][-1] if _RECORDERS[-1] else None
            if before is not None and before.kind == kind and _same_place(before.accesses, touched):
                return  # one call of NumPy's often looks more than once
            note(Operation(kind, label=f"{kind} of {size_text(self.nbytes)}", accesses=touched))


def _same_place(one: tuple[Access, ...], other: tuple[Access, ...]) -> bool:
    bounds = [[(int(piece.starts[0]), int(piece.ends[-1])) for piece in pieces] for pieces in (one, other)]
    return bounds[0] == bounds[1]


def _look_for_changed_sources(again: Operation | None = None) -> None:
    """Note the host's writes to pinned sources, told by their being other than when their copy was asked for.

    Of all sources; or, when one of them is about to be copied `again`, of what that copy reads.
    """
    watched, _in_flight[:] = _in_flight[-_WATCHED:], []
    for operation, source, before in watched:
        other = again is not None and not _touches(again, source, False)
        if other or zlib.crc32(source) == before:
            _in_flight.append((operation, source, before))
        else:
            touched = access(source, True, "the host's buffer")
            for recorder in _RECORDERS:
                recorder.append(Operation("host write", label=f"host write to the source of {operation.label}",
                                          accesses=touched))  # fmt: skip


def _forget_overwritten(operation: Operation) -> None:
    """A source that the device itself has written says nothing about the host any more."""
    if _in_flight and operation.kind != "host write":
        each = (operation, *(node for node, _ in operation.nodes))
        _in_flight[:] = [watched for watched in _in_flight if not any(_touches(one, watched[1], True) for one in each)]


def _touches(operation: Operation, source: np.ndarray, writes: bool) -> bool:
    first, past = np.lib.array_utils.byte_bounds(source)
    return any(
        int(piece.starts[0]) < past and first < int(piece.ends[-1])
        for piece in operation.accesses
        if piece.writes == writes
    )


# ---------------------------------------------------------------- what a kernel touched


def _finished(run) -> None:
    _local.seen = run.counters(), _touched(run)


def _touched(run) -> list[Access]:
    """The sectors a launch has read and those it has written, allocation by allocation, in runs."""
    starts, ends = run.table
    found = []
    for writes, marks in ((False, run.reads), (True, run.writes)):
        for start, end, offset in zip(starts.tolist(), ends.tolist(), run.touch_offsets.tolist(), strict=False):
            bits = np.flatnonzero(np.diff(marks[offset : offset + (end - start + 31) // 32] != 0, prepend=0, append=0))
            if len(bits):
                places = np.uint64(start) + np.uint64(32) * bits.astype(np.uint64)
                found.append(Access(places[::2], np.minimum(places[1::2], np.uint64(end)), writes, grain=32))
    return found


def _named(touched: list[Access], arrays) -> tuple[Access, ...]:
    """The pieces with the names of the arguments they lie in, and no longer than those where there is only one."""

    def named(piece: Access) -> Access:
        first, past = int(piece.starts[0]), int(piece.ends[-1])
        inside = [info for info in arrays if info.address < past and first < info.address + info.nbytes]
        if len(inside) != 1:
            return replace(piece, name=inside[0].name if inside else "")
        low, high = np.uint64(inside[0].address), np.uint64(inside[0].address + inside[0].nbytes)
        starts, ends = np.clip(piece.starts, low, high), np.clip(piece.ends, low, high)
        if first + 32 <= inside[0].address or past - 32 >= inside[0].address + inside[0].nbytes:
            return replace(piece, name=inside[0].name)  # it goes beyond what was passed
        return replace(piece, starts=starts, ends=ends, name=inside[0].name)

    return tuple(named(piece) for piece in touched)


def _sizes(grid) -> tuple[int, ...]:
    sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes = sizes[:-1]
    return sizes
