"""A caching allocator's books, after PyTorch's for CUDA: what tensors hold, and what it keeps from the driver for them.

Asking the driver for memory is slow, so freed blocks are kept and given out again. The rules are PyTorch's: sizes are
rounded up to 512 bytes; up to 1 MiB come from segments of 2 MiB, up to 10 MiB from segments of 20 MiB, more from
segments rounded up to 2 MiB; the smallest free block that fits is taken and split, and free neighbours are joined.
With expandable segments each of the two pools is one segment that grows and shrinks by pages of 2 or 20 MiB.

Left out: streams, private pools, sharing between processes. The driver is modelled by a sum: it gives what is asked for
as long as all of it together is no more than the capacity.

Sources: PyTorch 2.13, c10/core/AllocatorConfig.h (the sizes) and c10/cuda/CUDACachingAllocator.cpp (the rules),
https://github.com/pytorch/pytorch; the settings, https://docs.pytorch.org/docs/stable/notes/cuda.html
"""

from __future__ import annotations

from typing import Any, NoReturn

from helpers.results.torch.allocator_parts import (
    LARGE_SEGMENT,
    MIB,
    ROUND,
    SMALL,
    SMALL_SEGMENT,
    Block,
    Row,
    Segment,
    Settings,
    rounded,
    runs,
    segment_size,
    size_text,
    told,
    up,
)

__all__ = ["MIB", "CachingAllocator", "Row", "Settings", "rounded", "segment_size"]
FIRST_ADDRESS = 0x7F0000000000
ADDRESSES = 2**40
"""Bytes of addresses that an expandable segment may grow over."""


class CachingAllocator:
    """`allocate(name, nbytes)` and `free(name)`; `allocated` and `reserved` are bytes, blocks and segments in all.

    `capacity`: bytes of the device, or None for no limit; what does not fit raises `torch.OutOfMemoryError`. Settings
    by PyTorch's names: see `Settings`. `stats()` and `snapshot()` are what `torch.cuda.memory_stats()` and
    `torch.cuda.memory._snapshot()` would return, as far as the model goes.
    """

    def __init__(self, capacity: int | None = None, **settings: Any):
        self.capacity = float("inf") if capacity is None else capacity
        self.settings = Settings(**settings)
        self.allocated = self.reserved = self.requested = 0
        self.peaks = {"allocated_bytes": 0, "reserved_bytes": 0, "requested_bytes": 0}
        self.counts = dict.fromkeys(
            ("allocation", "segment", "num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free"), 0
        )
        self.history: list[dict] = []
        self._segments: list[Segment] = []
        self._where: dict[object, tuple[Segment, Block]] = {}
        self._searches = {True: 0, False: 0}
        self._next_address = FIRST_ADDRESS

    # -- what programs ask for ------------------------------------------------------------------------

    def allocate(self, name: object, nbytes: int) -> None:
        """Give `name` a block of at least `nbytes`. Raises ValueError where the name has one already."""
        if name in self._where:
            raise ValueError(f"{name!r} holds a block already: free it first")
        size = rounded(nbytes, self.settings.roundup_power2_divisions)
        found = self._cached(size) or self._fetched(size)
        if found is None:
            self.counts["num_ooms"] += 1
            self._log("oom", 0, nbytes, device_free=self.capacity - self.reserved)
            self._out_of_memory(size)
        segment, block = found
        if self._cuts(segment, block.nbytes - size, size):
            segment.split(block, size)
        block.owner, block.requested = name, nbytes
        segment.touch(block)
        self._where[name] = segment, block
        self.allocated += block.nbytes
        self.requested += nbytes
        self.counts["allocation"] += 1
        self._log("alloc", block.start, nbytes)

    def free(self, name: object) -> None:
        """Keep the block of `name` for the next who asks. Raises KeyError for a name that holds none."""
        if name not in self._where:
            raise KeyError(f"{name!r} holds no block")
        segment, block = self._where.pop(name)
        self.allocated -= block.nbytes
        self.requested -= block.requested
        for action in ("free_requested", "free_completed"):
            self._log(action, block.start, block.requested)
        block.owner, block.requested = None, 0
        block.freed_at = self._searches[segment.small]
        segment.join(block)

    def empty_cache(self) -> None:
        """Hand back to the driver what nothing lies in: whole segments, and of expandable ones whole pages."""
        for segment in list(self._segments):
            if segment.expandable:
                for block in [each for each in segment.blocks if each.free]:
                    self._unmap(segment, block)
            elif segment.idle:
                self._release(segment)

    # -- finding a block ------------------------------------------------------------------------------

    def _free(self, small: bool) -> list[tuple[Segment, Block]]:
        """The free blocks of a pool, smallest first, then by address."""
        found = [(s, b) for s in self._segments if s.small is small for b in s.seen[0]]
        return sorted(found, key=lambda each: (each[1].nbytes, each[1].start))

    def _cached(self, size: int) -> tuple[Segment, Block] | None:
        """The best free block: the smallest that fits, where one that could still grow counts as large as it may get"""
        small = size <= SMALL
        self._searches[small] += 1
        fitting = [each for each in self._free(small) if each[1].nbytes >= size]
        if not fitting:
            return None
        at = 0
        if fitting[0][0].expandable:
            while at + 1 < len(fitting) and self._may_become(*fitting[at + 1]) < self._may_become(*fitting[at]):
                at += 1
        limit, found = self.settings.max_split_size, fitting[at][1].nbytes
        if size < limit <= found or (size >= limit and found >= size + LARGE_SEGMENT):
            return None  # oversize blocks are not cut, and only given whole to what nearly fills them
        return fitting[at]

    @staticmethod
    def _may_become(segment: Segment, block: Block) -> int:
        after = segment.after(block)
        return block.nbytes + (after.nbytes if after and not after.mapped else 0)

    def _cuts(self, segment: Segment, rest: int, size: int) -> bool:
        if segment.small or self.settings.expandable_segments:
            return rest >= ROUND
        return size < self.settings.max_split_size and rest > SMALL

    def _fetched(self, size: int) -> tuple[Segment, Block] | None:
        """A block from the driver; where it has none left, what lies unused in the cache goes back first."""
        if self.settings.garbage_collection_threshold:
            self._collect()
        found = self._from_driver(size)
        if not found and self._release_oversize(size):
            found = self._from_driver(size)
        if not found:
            self.counts["num_alloc_retries"] += 1
            self.empty_cache()
            found = self._from_driver(size)
        return found

    # -- the driver -----------------------------------------------------------------------------------

    def _from_driver(self, size: int) -> tuple[Segment, Block] | None:
        if self.settings.expandable_segments:
            return self._expanded(size)
        whole = segment_size(size)
        if self.reserved + whole > self.capacity:
            return None
        segment = self._new_segment(size <= SMALL, False, whole)
        self.counts["segment"] += 1
        self._count("segment_alloc", segment.blocks[0].start, whole)
        return segment, segment.blocks[0]

    def _new_segment(self, small: bool, expandable: bool, nbytes: int) -> Segment:
        segment = Segment(small, expandable, [Block(self._next_address, nbytes, mapped=not expandable)])
        self._next_address += up(nbytes, LARGE_SEGMENT)
        self._segments.append(segment)
        return segment

    def _expanded(self, size: int) -> tuple[Segment, Block] | None:
        """A block at the lowest address where an expandable segment has room for it, mapped as far as it goes."""
        small = size <= SMALL
        segment = next((s for s in self._segments if s.expandable and s.small is small), None)
        segment = segment or self._new_segment(small, True, ADDRESSES)
        for at, block in enumerate(segment.blocks):
            if block.mapped:
                continue
            first = at - 1 if at and segment.blocks[at - 1].free else at
            room = 0
            for each in segment.blocks[first:]:
                if each.owner is not None:
                    break
                room += each.nbytes
            if room >= size:
                return self._mapped(segment, segment.blocks[first], size)
        return None

    def _mapped(self, segment: Segment, block: Block, size: int) -> tuple[Segment, Block] | None:
        page = SMALL_SEGMENT if segment.small else LARGE_SEGMENT
        while not block.mapped or block.nbytes < size:
            bare = segment.after(block) if block.mapped else block
            assert bare is not None  # a segment that grows has room for `size`
            missing = size - (block.nbytes if block.mapped else 0)
            nbytes = up(min(missing, bare.nbytes), page)
            if self.reserved + nbytes > self.capacity:
                return None
            if nbytes < bare.nbytes:
                segment.split(bare, nbytes)
            bare.mapped = True
            bare.freed_at = self._searches[segment.small]
            self._count("segment_map", bare.start, nbytes)
            block = segment.join(bare)
        return segment, block

    def _unmap(self, segment: Segment, block: Block) -> None:
        """Give back the whole pages of a free block of an expandable segment."""
        page = SMALL_SEGMENT if segment.small else LARGE_SEGMENT
        origin = segment.blocks[0].start
        first = origin + up(block.start - origin, page)
        last = origin + (block.end - origin) // page * page
        if first >= last:
            return
        if first > block.start:
            block = segment.split(block, first - block.start)
        if last < block.end:
            segment.split(block, last - block.start)
        block.mapped = False
        self._count("segment_unmap", block.start, block.nbytes)
        segment.join(block)

    def _release(self, segment: Segment) -> None:
        self._segments.remove(segment)
        self._count("segment_free", segment.blocks[0].start, segment.blocks[0].nbytes)

    def _release_oversize(self, size: int) -> bool:
        """With a limit to splitting: give back one cached block that is large enough, or several, largest first."""
        limit = self.settings.max_split_size
        if limit == float("inf"):
            return False
        wanted = max(size, limit)
        idle = [s for s, _ in self._free(size <= SMALL) if s.idle and s.blocks[0].nbytes >= limit]
        enough = [s for s in idle if s.blocks[0].nbytes >= wanted]
        if enough:
            self._release(enough[0])
            return True
        released = 0
        while idle and released < wanted:
            released += idle[-1].blocks[0].nbytes
            self._release(idle.pop())
        return released >= wanted

    def _collect(self) -> None:
        """Above the threshold: give back cached segments that have gone unused for longer than is usual."""
        excess = self.reserved - self.settings.garbage_collection_threshold * self.capacity
        reclaimed = 0
        while reclaimed < excess:
            idle = [s for s, _ in self._free(False) if s.idle and not s.expandable]
            if not idle:
                return
            ages = {id(s): self._searches[False] - s.blocks[0].freed_at for s in idle}
            usual = sum(ages.values()) / len(ages)
            for segment in idle:
                if ages[id(segment)] >= usual:
                    reclaimed += segment.blocks[0].nbytes
                    self._release(segment)

    # -- the books ------------------------------------------------------------------------------------

    def _count(self, action: str, address: int, nbytes: int) -> None:
        """Book what the driver gave or took back."""
        gave = action in ("segment_alloc", "segment_map")
        self.reserved += nbytes if gave else -nbytes
        self.counts["num_device_alloc" if gave else "num_device_free"] += 1
        self._log(action, address, nbytes)

    def _log(self, action: str, address: int, nbytes: int, **more: object) -> None:
        self.history.append({"action": action, "addr": address, "size": nbytes, "stream": 0, **more})
        now = {"allocated_bytes": self.allocated, "reserved_bytes": self.reserved, "requested_bytes": self.requested}
        self.peaks = {name: max(value, now[name]) for name, value in self.peaks.items()}

    def _out_of_memory(self, size: int) -> NoReturn:
        import torch

        raise torch.OutOfMemoryError(
            f"CUDA out of memory (modelled). Tried to allocate {size_text(segment_size(size))}. The GPU has a total "
            f"capacity of {size_text(int(self.capacity))} of which {size_text(int(self.capacity) - self.reserved)} is "
            f"free. Of the allocated memory {size_text(self.allocated)} is allocated by PyTorch, and "
            f"{size_text(self.reserved - self.allocated)} is reserved by PyTorch but unallocated."
        )

    def rows(self) -> tuple[Row, ...]:
        """All segments as they are now, in the order of their addresses, as far as memory lies behind them."""
        rows = (segment.seen[1] for segment in self._segments)
        return tuple(row for row in rows if row)

    @property
    def largest_free(self) -> int:
        """Bytes of the largest block that can be given out without asking the driver."""
        return max((block.nbytes for segment in self._segments for block in segment.seen[0]), default=0)

    def stats(self) -> dict[str, int]:
        """The statistics under the names of `torch.cuda.memory_stats()`."""
        held_fast = sum(
            b.nbytes for s in self._segments if len(s.blocks) > 1 and not s.expandable for b in s.blocks if b.free
        )
        now = {"allocated_bytes": self.allocated, "reserved_bytes": self.reserved, "requested_bytes": self.requested}
        found = {f"{name}.all.current": value for name, value in now.items()}
        found |= {f"{name}.all.peak": value for name, value in self.peaks.items()}
        found["inactive_split_bytes.all.current"] = held_fast
        found["allocation.all.current"] = len(self._where)
        found["segment.all.current"] = sum(not s.expandable for s in self._segments)
        found |= {f"{name}.all.allocated": self.counts[name] for name in ("allocation", "segment")}
        found |= {name: count for name, count in self.counts.items() if name.startswith("num_")}
        return dict(sorted(found.items()))

    def snapshot(self) -> dict:
        """The state and its history in the format of `torch.cuda.memory._snapshot()`, which its viewers read."""
        segments = []
        for segment in self._segments:
            blocks = [b for b in segment.blocks if b.mapped]
            for run in runs(blocks):
                held = sum(b.nbytes for b in run if b.owner is not None)
                segments.append({
                    "device": 0, "address": run[0].start, "total_size": sum(b.nbytes for b in run), "stream": 0,
                    "segment_type": "small" if segment.small else "large", "segment_pool_id": (0, 0),
                    "allocated_size": held, "active_size": held, "requested_size": sum(b.requested for b in run),
                    "is_expandable": segment.expandable, "frames": [], "blocks": [told(b) for b in run],
                })  # fmt: skip
        return {"segments": segments, "device_traces": [list(self.history)], "allocator_settings": {}}
