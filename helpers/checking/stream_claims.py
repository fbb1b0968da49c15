"""Whether a recording of stream work from elsewhere accounts for its result: data in, kernels, data out.

A recording is written where its author's Python runs, so it can be written by hand. What it says is held against
itself and against the case. That finds out who leaves work out, so as to be quicker. Who leaves out what orders the
work, or says that memory is pinned which is not, is not found out: of the host's own steps nobody else knows.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator

import numpy as np

from helpers.checking.exercise import Case, Out
from helpers.checking.stream_work import OnDevice, OutOnDevice, Pageable
from helpers.vgpu.operations import Operation

SECTOR = 32
COPIES = {"H2D": (1, 1), "D2H": (1, 1), "D2D": (1, 1), "memset": (0, 1)}
"""Copies, and whether each reads and writes arrays that are known."""
COMPUTING = ("kernel", "array")
"""Kinds of operations that make new values on the device; "array" is work that NumPy does here."""


class Bytes:
    """A set of addresses, as pieces that do not touch."""

    def __init__(self):
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        first = bisect_right(self._ends, start - 1)
        last = bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]

    def within(self, start: int, end: int) -> int:
        """How many of the bytes from `start` to `end` are in the set."""
        first, last = bisect_right(self._ends, start), bisect_right(self._starts, end - 1)
        return sum(min(end, self._ends[n]) - max(start, self._starts[n]) for n in range(first, last))

    def __len__(self) -> int:
        return sum(self._ends) - sum(self._starts)


def doubt(operations: Iterable[Operation], case: Case) -> str:
    """What a recording leaves unsaid of the work that `case` takes, in words for its author; "" where nothing."""
    done = list(_flat(operations))
    if not any(each.kind in COMPUTING for each in done):
        return "no kernel is in the recording: the GPU has not made this result"
    for each in done:
        if words := _contradiction(each):
            return f"{each.label or each.kind}: {words}"
    return _flow(done, case)


def _flat(operations: Iterable[Operation]) -> Iterator[Operation]:
    """The operations, and those of graphs each time that the graph is launched."""
    for each in operations:
        yield each
        if each.kind == "graph":
            yield from _flat(node for node, _ in each.nodes)


def _pieces(each: Operation, writes: bool) -> Iterator[tuple[int, int]]:
    for access in each.accesses:
        if access.writes == writes:
            yield from zip(access.starts.tolist(), access.ends.tolist(), strict=True)


def _size(each: Operation, writes: bool) -> int:
    return sum(end - start for start, end in _pieces(each, writes))


def _contradiction(each: Operation) -> str:
    """Where an operation does not agree with itself."""
    if each.kind in COPIES:
        reads, writes = COPIES[each.kind]
        short = min(_size(each, False) if reads else each.nbytes, _size(each, True) if writes else each.nbytes)
        if short < each.nbytes:  # it may touch more, where it takes a part of each row
            return f"a copy of {each.nbytes:,} bytes that touches {short:,}"
        if each.kind in ("H2D", "D2H") and not each.waits and not (each.asynchronous and each.pinned):
            return "a copy that blocks, and for which nobody waits"
    if each.kind == "synchronise" and not each.waits:
        return "the host waits, and does not"
    return _kernel(each) if each.kind == "kernel" else ""


def _kernel(each: Operation) -> str:
    counted = each.counters
    if counted is None:
        return "" if not each.accesses else "a kernel that nobody counted"
    read, written = _size(each, False), _size(each, True)
    total, footprint = counted.total, counted.footprint
    atomics = total["global_atomic_sectors"] * SECTOR
    loaded = SECTOR * (total["global_load_sectors"] + total["global_copy_sectors"]) + total["bulk_load_bytes"]
    stored = SECTOR * total["global_store_sectors"] + total["bulk_store_bytes"]
    textures = SECTOR * (total["texture_sectors"] + total["surface_load_sectors"])
    if read > footprint.read_bytes or written > footprint.written_bytes:
        return "it touches more than it has counted"
    if footprint.read_bytes > loaded + atomics + textures or footprint.written_bytes > (
        stored + atomics + SECTOR * total["surface_store_sectors"]
    ):
        return "it loads or stores less than it touches"
    warps = math.prod(counted.grid) * -(-math.prod(counted.block) // 32)
    if counted.warps != warps or total["instructions"] < warps or total["thread_instructions"] < warps:
        return "it has warps that execute nothing"
    return ""


def _flow(done: list[Operation], case: Case) -> str:
    """Whether what comes in is enough for what the case gives, and what goes out was made on the device.

    Of a copy the bytes count that it says it has, as time is reckoned by them.
    """
    made, out = Bytes(), Bytes()
    came = went = computed = 0
    for each in done:
        if each.kind in COMPUTING:
            for start, end in _pieces(each, True):
                made.add(start // SECTOR * SECTOR, -(-end // SECTOR) * SECTOR)
                computed += end - start
        elif each.kind == "D2H":
            for start, end in _pieces(each, False):
                if made.within(start, end) < end - start:
                    return f"{each.label}: it copies back what no kernel has written"
            for start, end in _pieces(each, True):
                out.add(start, end)
            went += each.nbytes
        elif each.kind == "H2D":
            came += each.nbytes
    needed = sum(_given(case))
    if came < needed:
        return f"of {needed:,} bytes that are given, {came:,} come to the device"
    wanted = case.out.expected.nbytes
    shown = computed if isinstance(case.out, OutOnDevice) else min(went, len(out))
    return "" if shown >= wanted else f"of {wanted:,} bytes of the result, {shown:,} come from the device"


def _given(case: Case) -> Iterator[int]:
    """The bytes of each array of the host that holds something: NaN alone is room."""
    for argument in case.arguments:
        if isinstance(argument, Out | OnDevice):
            continue
        array = argument.array if isinstance(argument, Pageable) else argument
        if isinstance(array, np.ndarray) and not (array.dtype.kind == "f" and np.isnan(array).all()):
            yield array.nbytes
