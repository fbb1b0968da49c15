"""The memory that an operation touches: of an array, from an address on, or as observed while a kernel ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vgpu.launch.grid import Grid
    from vgpu.storage.memory import ArrayInfo


@dataclass(frozen=True, eq=False)
class Touch:
    """Memory that an operation touches: sorted `starts` and `ends` of its address ranges, and its array's name.

    `grain` is the granularity of the addresses in bytes: 32 (a sector) for kernels, 1 for copies.
    """

    starts: np.ndarray
    ends: np.ndarray
    writes: bool
    name: str = ""
    grain: int = 1


def access(array: np.ndarray, writes: bool, name: str = "") -> tuple[Touch, ...]:
    """The bytes of a NumPy array (of the host, or over device memory): of rows of bytes each, else from end to end."""
    if array.size == 0:
        return ()
    if array.ndim == 2 and array.strides[0] > array.shape[1] * array.itemsize == array.shape[1] * array.strides[1]:
        starts = array.__array_interface__["data"][0] + array.strides[0] * np.arange(len(array), dtype=np.uint64)
        return (Touch(starts, starts + np.uint64(array.shape[1] * array.itemsize), writes, name),)
    first, past = np.lib.array_utils.byte_bounds(array)
    return (span(first, past - first, writes, name),)


def span(address: int, nbytes: int, writes: bool, name: str = "") -> Touch:
    """`nbytes` bytes from an address on."""
    return Touch(np.array([address], np.uint64), np.array([address + nbytes], np.uint64), writes, name)


def same_place(one: tuple[Touch, ...], other: tuple[Touch, ...]) -> bool:
    """Whether both touch the same ranges of addresses."""
    bounds = [[(int(touch.starts[0]), int(touch.ends[-1])) for touch in touches] for touches in (one, other)]
    return bounds[0] == bounds[1]


def touches(accesses: Iterable[Touch], array: np.ndarray, writes: bool) -> bool:
    """Whether any of these reads (or writes) reaches into the array."""
    first, past = np.lib.array_utils.byte_bounds(array)
    return any(
        int(touch.starts[0]) < past and first < int(touch.ends[-1]) for touch in accesses if touch.writes == writes
    )


def of_launch(run: Grid) -> list[Touch]:
    """The sectors that a launch has read and written, allocation by allocation, in runs."""
    starts, ends = run.table
    found = []
    for writes, marks in ((False, run.reads), (True, run.writes)):
        # A process may hold thousands of allocations, of which a launch touches a few.
        touched = np.flatnonzero(np.maximum.reduceat(marks, run.touch_offsets)[: len(starts)])
        columns = (each[touched].tolist() for each in (starts, ends, run.touch_offsets))
        for start, end, offset in zip(*columns, strict=True):
            bits = np.flatnonzero(np.diff(marks[offset : offset + (end - start + 31) // 32] != 0, prepend=0, append=0))
            if len(bits):
                edges = np.uint64(start) + np.uint64(32) * bits.astype(np.uint64)
                found.append(Touch(edges[::2], np.minimum(edges[1::2], np.uint64(end)), writes, grain=32))
    return found


def named_after(touched: Sequence[Touch], arrays: Sequence[ArrayInfo]) -> tuple[Touch, ...]:
    """Each touch with the name of the argument it lies in, and clipped to it where there is only one."""

    def named(touch: Touch) -> Touch:
        first, past = int(touch.starts[0]), int(touch.ends[-1])
        inside = [info for info in arrays if info.address < past and first < info.address + info.nbytes]
        if len(inside) != 1:
            return replace(touch, name=inside[0].name if inside else "")
        low, high = np.uint64(inside[0].address), np.uint64(inside[0].address + inside[0].nbytes)
        starts, ends = np.clip(touch.starts, low, high), np.clip(touch.ends, low, high)
        if first + 32 <= inside[0].address or past - 32 >= inside[0].address + inside[0].nbytes:
            return replace(touch, name=inside[0].name)  # it extends beyond the argument
        return replace(touch, starts=starts, ends=ends, name=inside[0].name)

    return tuple(named(touch) for touch in touched)
