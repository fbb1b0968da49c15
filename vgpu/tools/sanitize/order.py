"""Which thread's accesses happen before whose, beyond a block's barriers: counted barriers, fences and flags.

This is a vector clock per thread. Row t of `known` holds, for each thread of the block, the time up to which thread t
knows of its accesses. Time counts synchronisations of all blocks together, so each time belongs to one block.

Knowledge passes through memory where a thread fences, then writes a flag or does an atomic, and another thread reads it
(NVIDIA "PTX ISA", memory consistency model: release and acquire patterns). A reading thread acquires even without its
own fence, and what threads fenced before a barrier is published by any of them after it: working programs rely on both,
so neither is reported.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field

import numpy as np

from vgpu.base.context import ENTRY_THREADS, ENTRY_TIME

Clocks = dict[int, np.ndarray]  # block -> up to which time each of its threads is known


@dataclass
class _Flag:
    """What a thread that reads a flag comes to know: `near` in the writer's block, `far` in any block."""

    near: Clocks = field(default_factory=dict)
    far: Clocks = field(default_factory=dict)
    version: int = 0


@dataclass(frozen=True)
class _ProxyFence:
    """Threads of a warp that executed `fence.proxy.async` at a time, and what each knew then: one row per thread."""

    time: int
    threads: np.ndarray
    rows: np.ndarray


MOST_PROXIES = 64
"""Proxy fences that are stored separately; older ones count as known to all, so that no report is wrong."""


class _BlockClocks:
    """What is known in one resident block; `known` is the table that compiled code reads."""

    def __init__(self, threads: int):
        # Whole warps, and rows of 1024: compiled code shifts instead of multiplying.
        rows = -(-threads // 32) * 32
        # Fresh pages of zeros cost nothing until they are used, and most kernels use few or none of these.
        nbytes = rows * ENTRY_THREADS * 4
        try:
            pages = mmap.mmap(-1, nbytes)
        except OSError as error:
            raise MemoryError(
                f"The sanitizer needs {nbytes:,} bytes for a block's threads, which aren't free."
            ) from error
        self.known = np.frombuffer(pages, np.uint32).reshape(rows, ENTRY_THREADS)
        self.begin(-1)

    def begin(self, block: int) -> None:
        """A block begins: its threads know nothing yet."""
        self.block = block
        self.arrived: Clocks = {}
        self.seen: Clocks = {}  # what other blocks did, known to all of this one
        self.fenced: tuple[Clocks, Clocks] = ({}, {})  # what a thread knew at its last fence: for the block, for all
        self.published = np.zeros((2, ENTRY_THREADS), np.uint32)  # when each thread fenced last
        # By flag and thread, the version read and the state released last: lanes that spin would repeat both.
        self.read: dict[tuple, int] = {}
        self.released: dict[tuple, tuple[int, int]] = {}
        self.fences = 0
        self.proxies: list[_ProxyFence] = []
        self.fenced_for_all = np.zeros(ENTRY_THREADS, np.uint32)  # what proxy fences covered that all threads know of


class Order:
    """What each resident block of a launch knows; `here` is the block that runs."""

    def __init__(self, threads: int):
        self.threads = threads
        self.flags: dict[tuple, _Flag] = {}
        self.resident: dict[int, _BlockClocks] = {}
        self.switch_to(0)

    def switch_to(self, slot: int) -> np.ndarray:
        """The block in this slot runs now. What its threads know of each other."""
        known = self.known(slot)
        self.here = self.resident[slot]
        return known

    def known(self, slot: int) -> np.ndarray:
        """What the threads of the block in a slot know of each other."""
        if slot not in self.resident:
            self.resident[slot] = _BlockClocks(self.threads)
        return self.resident[slot].known

    def runs(self, block: int) -> None:
        """This block runs in the slot in use: if it is another than before, nothing is known there yet."""
        if self.here.block != block:
            self.here.begin(block)

    # ------------------------------------------------------------ barriers with a count

    def arrive(self, barrier: int, threads: np.ndarray, time: int) -> None:
        """`bar.arrive`: the threads leave what they know with the barrier."""
        row = self._joined(threads, time)
        self.here.arrived[barrier] = np.maximum(self.here.arrived.get(barrier, row), row)

    def open(self, barrier: int, threads: np.ndarray, time: int) -> None:
        """The barrier opens: the waiting threads know what they and those that arrived knew and did."""
        left = self.here.arrived.pop(barrier, None)
        if len(threads):  # arriving threads may open it while none waits
            row = self._joined(threads, time)
            self.here.known[threads] = row if left is None else np.maximum(row, left)

    def _joined(self, threads: np.ndarray, time: int) -> np.ndarray:
        row = self.here.known[threads].max(axis=0)
        row[threads] = time
        return row

    # ------------------------------------------------------------ fences and flags

    def fence(self, threads: np.ndarray, time: int, floor: int, wide: bool) -> None:
        """The threads fence: their next strong write publishes their accesses and what they know."""
        self.here.fences += 1
        for thread in threads.tolist():
            row = np.maximum(self.here.known[thread], floor)
            row[thread] = time
            for level in range(1 + wide):
                self.here.fenced[level][thread] = row
                self.here.published[level][thread] = time

    def fence_proxy(self, threads: np.ndarray, time: int, floor: int) -> None:
        """The threads execute a proxy fence: bulk copies that are issued after it see what they stored and know of."""
        here = self.here
        rows = np.maximum(here.known[threads], np.uint32(floor))
        rows[np.arange(len(threads)), threads] = time
        here.proxies.append(_ProxyFence(time, threads, rows))
        while here.proxies and (here.proxies[0].time < floor or len(here.proxies) > MOST_PROXIES):
            np.maximum(here.fenced_for_all, here.proxies.pop(0).rows.max(axis=0), out=here.fenced_for_all)

    def visible(self, thread: int, floor: int) -> np.ndarray:
        """For each thread the time up to which a bulk copy that `thread` issues now sees its stores."""
        here, found = self.here, self.here.fenced_for_all.copy()
        for fence in here.proxies:
            known = np.maximum(here.known[thread][fence.threads], np.uint32(floor)) > fence.time
            known |= fence.threads == thread
            if known.any():
                np.maximum(found, fence.rows[known].max(axis=0), out=found)
        return found

    def release(self, key: tuple, thread: int, time: int, floor: int, by_itself: bool) -> None:
        """A strong write: a thread that reads it knows what this thread published."""
        state = self.here.fences, floor
        if not by_itself and self.here.released.get((key, thread)) == state:
            return
        self.here.released[key, thread] = state
        for level in (0, 1):
            row = self._publishable(level, thread, time, floor, by_itself)
            if row is None:
                continue
            flag = self.flags.setdefault(key, _Flag())
            flag.version += 1
            rows = flag.far if level else flag.near
            _merge(rows, self.here.block, row)
            if level:
                for block, known in self.here.seen.items():
                    _merge(rows, block, known)

    def _publishable(self, level: int, thread: int, time: int, floor: int, by_itself: bool) -> np.ndarray | None:
        row = np.maximum(self.here.known[thread], floor)
        if by_itself:
            row[thread] = time
            return row
        if not self.here.published[level].any():
            return None
        row = np.minimum(row, self.here.published[level])
        row[thread] = self.here.published[level][thread]
        own = self.here.fenced[level].get(thread)
        return row if own is None else np.maximum(row, own)

    def acquire(self, key: tuple, thread: int) -> bool:
        """A strong read: the thread knows what was published there. Whether that was anything new."""
        flag = self.flags.get(key)
        if flag is None or self.here.read.get((key, thread)) == flag.version:
            return False
        self.here.read[key, thread] = flag.version
        if self.here.block in flag.near:
            np.maximum(self.here.known[thread], flag.near[self.here.block], out=self.here.known[thread])
        for block, row in flag.far.items():
            if block != self.here.block:
                _merge(self.here.seen, block, row)
        return True

    def unknown(self, entry: int, block: int) -> bool:
        """Whether the block that runs cannot know of an access of this other block's."""
        row = self.here.seen.get(block)
        return row is None or int(row[entry & (ENTRY_THREADS - 1)]) <= entry >> ENTRY_TIME


def _merge(rows: Clocks, block: int, row: np.ndarray) -> None:
    """Raise a block's clocks to those in `row`. Tables share rows, so a merge makes a new one."""
    have = rows.get(block)
    if have is not row:
        rows[block] = row if have is None else np.maximum(have, row)
