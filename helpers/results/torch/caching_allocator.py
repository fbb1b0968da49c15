"""A caching allocator's books, after PyTorch's for CUDA: what tensors hold, and what it keeps from the driver for them.

Asking the driver for memory is slow, so freed blocks are kept and given out again. The rules are PyTorch's: sizes are
rounded up to 512 bytes; up to 1 MiB come from segments of 2 MiB, up to 10 MiB from segments of 20 MiB, more from
segments rounded up to 2 MiB; the smallest free block that fits is taken and split, and free neighbours are joined.
Source: PyTorch, c10/cuda/CUDACachingAllocator.cpp, https://github.com/pytorch/pytorch
"""

from __future__ import annotations

from dataclasses import dataclass

MIB = 2**20
ROUND = 512
SMALL, SMALL_SEGMENT = MIB, 2 * MIB
LARGE, LARGE_SEGMENT, LARGE_ROUND = 10 * MIB, 20 * MIB, 2 * MIB


@dataclass
class _Block:
    """A piece of a segment: its place, its bytes, and the name of its tensor, or None where it is free."""

    start: int
    nbytes: int
    owner: object = None


def _up(nbytes: int, unit: int) -> int:
    return -(-nbytes // unit) * unit


class CachingAllocator:
    """`allocate(name, nbytes)` and `free(name)`; `allocated` and `reserved` are bytes, blocks and segments in all."""

    def __init__(self):
        self._segments: dict[bool, list[list[_Block]]] = {True: [], False: []}  # small ones apart from large ones
        self._where: dict[object, tuple[list[_Block], bool]] = {}
        self.allocated = self.reserved = 0

    def allocate(self, name, nbytes: int) -> None:
        """Give `name` a block of at least `nbytes`. Raises ValueError where the name has one already."""
        if name in self._where:
            raise ValueError(f"{name!r} holds a block already: free it first")
        size = max(ROUND, _up(nbytes, ROUND))
        small = size <= SMALL
        free = [
            (block.nbytes, number, block)
            for number, segment in enumerate(self._segments[small])
            for block in segment
            if block.owner is None and block.nbytes >= size
        ]
        if free:
            _, number, block = min(free, key=lambda found: (found[0], found[1], found[2].start))
            segment = self._segments[small][number]
        else:
            whole = SMALL_SEGMENT if small else LARGE_SEGMENT if size < LARGE else _up(size, LARGE_ROUND)
            segment = [block := _Block(0, whole)]
            self._segments[small].append(segment)
            self.reserved += whole
        rest = block.nbytes - size
        if rest >= ROUND if small else rest > SMALL:
            segment.insert(segment.index(block) + 1, _Block(block.start + size, rest))
            block.nbytes = size
        block.owner = name
        self._where[name] = segment, small
        self.allocated += block.nbytes

    def free(self, name) -> None:
        """Keep the block of `name` for the next who asks. Raises KeyError for a name that holds none."""
        if name not in self._where:
            raise KeyError(f"{name!r} holds no block")
        segment, _ = self._where.pop(name)
        at = next(number for number, block in enumerate(segment) if block.owner == name)
        block = segment[at]
        block.owner = None
        self.allocated -= block.nbytes
        for first, second in ((at, at + 1), (at - 1, at)):
            if first >= 0 and second < len(segment) and segment[first].owner is segment[second].owner is None:
                segment[first].nbytes += segment[second].nbytes
                del segment[second]

    def empty_cache(self) -> None:
        """Hand segments back in which nothing lies."""
        for small, segments in self._segments.items():
            kept = [segment for segment in segments if len(segment) > 1 or segment[0].owner is not None]
            self.reserved -= sum(segment[0].nbytes for segment in segments if segment not in kept)
            self._segments[small] = kept
