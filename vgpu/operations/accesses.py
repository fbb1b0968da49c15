"""The memory that an operation touches: of an array, from an address on, or found out while a kernel ran."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class Touch:
    """Memory that an operation touches: `starts` and `ends` of its pieces (sorted addresses), and what it is called.

    `grain` is how exact the addresses are: kernels are known by sectors of 32 bytes, copies by the byte.
    """

    starts: np.ndarray
    ends: np.ndarray
    writes: bool
    name: str = ""
    grain: int = 1


def access(array: np.ndarray, writes: bool, name: str = "") -> tuple[Touch, ...]:
    """The bytes of a NumPy array (of the host, or over device memory), from the first to the last."""
    if array.size == 0:
        return ()
    first, past = np.lib.array_utils.byte_bounds(array)
    return (span(first, past - first, writes, name),)


def span(address: int, nbytes: int, writes: bool, name: str = "") -> Touch:
    """`nbytes` bytes from an address on."""
    return Touch(np.array([address], np.uint64), np.array([address + nbytes], np.uint64), writes, name)


def same_place(one: tuple[Touch, ...], other: tuple[Touch, ...]) -> bool:
    """Whether the first pieces of both reach from and to the same addresses."""
    bounds = [[(int(piece.starts[0]), int(piece.ends[-1])) for piece in pieces] for pieces in (one, other)]
    return bounds[0] == bounds[1]


def touches(accesses: Iterable[Touch], array: np.ndarray, writes: bool) -> bool:
    """Whether any of these reads (or writes) reaches into the array."""
    first, past = np.lib.array_utils.byte_bounds(array)
    return any(
        int(piece.starts[0]) < past and first < int(piece.ends[-1]) for piece in accesses if piece.writes == writes
    )


def of_launch(run) -> list[Touch]:
    """The sectors a launch has read and those it has written, allocation by allocation, in runs."""
    starts, ends = run.table
    found = []
    for writes, marks in ((False, run.reads), (True, run.writes)):
        # A process may hold thousands of allocations, of which a launch touches a few.
        touched = np.flatnonzero(np.maximum.reduceat(marks, run.touch_offsets)[: len(starts)])
        pieces = (each[touched].tolist() for each in (starts, ends, run.touch_offsets))
        for start, end, offset in zip(*pieces, strict=True):
            bits = np.flatnonzero(np.diff(marks[offset : offset + (end - start + 31) // 32] != 0, prepend=0, append=0))
            if len(bits):
                places = np.uint64(start) + np.uint64(32) * bits.astype(np.uint64)
                found.append(Touch(places[::2], np.minimum(places[1::2], np.uint64(end)), writes, grain=32))
    return found


def named_after(touched: list[Touch], arrays) -> tuple[Touch, ...]:
    """The pieces with the names of the arguments they lie in, and no longer than those where there is only one."""

    def named(piece: Touch) -> Touch:
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
