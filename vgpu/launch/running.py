"""How the workers of a launch run its blocks, from the first to the last.

Worker threads take blocks in order. A worker runs one block at a time, warp by warp, and makes further blocks resident
only when those it has wait for others. Now and then the workers return to Python, so that Ctrl-C and time-outs work,
and so that a grid whose blocks all wait for one another is reported.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import numpy as np

from vgpu import faults
from vgpu.base import schedule, tracebacks
from vgpu.base.context import FAILED, IDLE, LAUNCH_SLOT, OUT_OF_FUEL, STALLED, TRIED
from vgpu.launch import residency
from vgpu.launch.deadline import Deadline
from vgpu.launch.worker import Worker, block_areas
from vgpu.lower import Lowered
from vgpu.runtime import jit

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel

MOST_SLICES = 1 << 12  # rounds in which warps run out of fuel before the worker returns to Python
SPIN_SECONDS = 0.005  # after which a block that spins on memory lets other blocks run
BRIEF = 32  # warps of a launch that begins in the caller's thread, like those that took QUICK_SECONDS before
QUICK_SECONDS = 0.01
MOST_AT_ONCE, PORTIONS = 32, 16  # blocks that a worker takes at once at most; portions for each worker at least
FEW = 4  # blocks that a worker may have resident before all workers wait
ROOM = 1 << 30  # bytes that a worker may have for blocks that wait for others in an ordinary launch
MOST_THREADS = 1 << 12  # at once; workers wait for one another, so that each needs a separate thread
MOST_IDLE_ROUNDS = 512  # in which all workers only wait, before waits for an mbarrier are a deadlock too


class Rotation:
    """Which of a worker's resident blocks have had a time slice since one of them ended."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.resident = 0

    def next(self, block: int, resident: int) -> bool:
        """Note the end of a block's time slice; returns whether each of `resident` blocks has had one."""
        if resident < self.resident:
            self.seen.clear()
        self.seen.add(block)
        self.resident = resident
        if len(self.seen) < resident:
            return False
        self.seen.clear()
        return True


class Running(ABC):
    """A launch that has been prepared (see `grid.Grid`): its threads, and what they tell one another."""

    kernel: Kernel
    lowered: Lowered
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    blocks: int
    warps: int  # of a block
    shared_bytes: int
    together: int  # blocks of a cluster
    seed: int | None
    cooperative: bool
    independent: bool  # blocks never wait
    asynchronous: bool  # warps have copies under way
    has_tensor_memory: bool  # blocks have tensor memory
    shared_alignment: int  # of a block's shared memory
    timeout: float
    shared: np.ndarray  # int64, what compiled code of all workers reads and writes
    lock: threading.Lock
    workers: list[Worker]
    fault: faults.Fault | None
    assertion: tuple[bytes, ...]  # the condition and file of a failed assert
    host_error: Exception | None  # what went wrong in a call out of the kernel
    cancelled: bool
    missing: int  # blocks that had not begun when the time was up
    quick = False  # an earlier launch in the same memory took little time
    idle_rounds: int  # rounds in which all workers waited and none had made progress
    epoch: int  # how often a worker reported progress
    _share: int | None  # see `_capacity`

    @abstractmethod
    def make_workers(self, threads: int) -> None:
        """Make so many workers, unless there are some from an earlier launch."""

    def run(self, threads: int) -> None:
        """Run all blocks on so many worker threads; a fault is kept in `fault`."""
        self.make_workers(threads)
        self.most = self.blocks  # blocks that one worker may have resident
        if self.seed is not None:
            self.most = self.blocks if self.cooperative else min(self.blocks, max(schedule.WINDOW, self.together))
            self.workers[0].grow(self.most)
        self.deadline = Deadline(self.timeout)
        began = time.monotonic()
        try:
            futures = self.start_workers()
            while futures and wait(futures, timeout=0.25).not_done:
                if self.deadline.passed():
                    self.expire()
        except BaseException as interruption:  # Ctrl-C: let the workers stop before anything they use goes away
            self.abandon()
            busy = next((w for w in self.workers if w["in_block"]), None)
            if busy is not None:
                fault = faults.timed_out(busy, self)
                interruption.add_note(faults.whereabouts(self.kernel, self.lowered, fault, self.grid, self.block))
                tracebacks.shorten(interruption)
            raise
        for future in futures:
            future.result()
        self.quick = time.monotonic() - began < QUICK_SECONDS
        if self.fault is None and self.missing:
            self.fault = faults.unfinished(self)

    @property
    def brief(self) -> bool:
        """Whether the first time slice may run in the caller's thread: it's short, and doesn't call Python."""
        return (self.small or (self.quick and self.independent)) and self.workers[0].callback is None

    @property
    def small(self) -> bool:
        """Whether one worker runs it."""
        return self.warps * self.blocks <= BRIEF

    def start_workers(self) -> list[Future[bool]]:
        """Start a thread for each worker, or for fewer of them where the system has no further thread.

        Handing work to another thread takes longer than most small launches do. So this thread runs the first time
        slice of one worker, and another thread what is left: the limits on time and Ctrl-C work as they do elsewhere.
        """
        futures: list[Future[bool]] = []
        first, *others = self.workers
        for worker in others if self.brief else self.workers:
            self._start(worker, futures)
        if self.brief and not self.work(first, to_end=False):
            self._start(first, futures)
        return futures

    def _start(self, worker: Worker, futures: list[Future[bool]]) -> None:
        try:
            futures.append(_pool().submit(self.work, worker))
        except RuntimeError:
            with self.lock:
                worker.active = not futures  # it may have been queued all the same
            if not futures:  # the interpreter is about to end
                self.work(worker)

    def abandon(self) -> None:
        """Stop all workers and wait for them, even if Ctrl-C is pressed again."""
        while True:
            try:
                with self.lock:
                    self.cancelled = True
                self.stop(-1)
                while any(worker.running for worker in self.workers):
                    self.shorten_slices()
                    time.sleep(0.001)
                return
            except KeyboardInterrupt:
                continue

    def expire(self) -> None:
        """After the deadline: start no further block, and let the workers return to Python soon."""
        if not self.missing:
            waiting = sum(worker["own_end"] - worker["own_block"] for worker in self.workers)
            self.missing = max(self.blocks - int(self.shared[LAUNCH_SLOT["next_block"]]) + waiting, 0)
        self.stop(-1)
        self.shorten_slices()

    def shorten_slices(self) -> None:
        """Make time slices short. Compiled code may overwrite a slot at that moment, so one call may not be enough."""
        for worker in self.workers:
            worker["slices"] = worker["fuel_slice"] = 1

    def stop(self, block: int) -> None:
        """Start no block with a number above `block`."""
        with self.lock:
            slot = LAUNCH_SLOT["stop_block"]
            self.shared[slot] = min(int(self.shared[slot]), max(block, 0))

    def work(self, worker: Worker, to_end: bool = True) -> bool:
        """Run blocks until none is left, a fault ends the launch, or time is up; runs in the worker's thread.

        With `to_end` False only for a time slice. Returns whether the worker has ended.
        """
        with self.lock:
            if self.cancelled or not worker.active:
                return True
            worker.running = True
        slices, rotation, ended = worker["slices"], Rotation(), True
        try:
            run_blocks = _run_blocks(self.independent)
            while True:
                began, epoch = time.monotonic(), self.epoch
                status = run_blocks(worker.pointer)
                now = time.monotonic()
                if status == FAILED and self.fail(worker):
                    continue
                if status not in (OUT_OF_FUEL, IDLE) or self.cancelled:
                    return True
                if self.deadline.passed():
                    if not worker["in_block"]:
                        self.expire()
                        return True
                    self.cancelled = True
                    self.report(faults.timed_out(worker, self))
                    return True
                if status == OUT_OF_FUEL:
                    with self.lock:
                        self.epoch += 1
                        worker["moved"] = 0
                    slices = worker["slices"] = self.slices_after(slices, now - began)
                    self.rotate(worker, rotation, now - began)
                elif not self.idle(worker, epoch):
                    return True
                if not to_end:
                    ended = False
                    return False
        except BaseException:  # the others may wait for this worker's blocks
            self.cancelled = True
            self.stop(-1)
            raise
        finally:
            with self.lock:
                worker.running = False
                worker.active = not ended
                self.epoch += 1

    def fail(self, worker: Worker) -> bool:
        """Report the fault of the worker's block. Whether the worker goes on with other blocks."""
        self.report(faults.failed(worker, self))
        return False

    def slices_after(self, slices: int, seconds: float) -> int:
        """How many rounds the next slice has, after one of `slices` rounds that took so many seconds.

        Rounds of warps that only spin are short, others long. A random schedule mustn't depend on the clock, or its
        seed wouldn't repeat it; when time is up, `shorten_slices` shortens its slices.
        """
        brief = self.seed is not None or seconds < 0.01
        return min(2 * slices, MOST_SLICES) if brief else max(slices // 4, 1)

    def rotate(self, worker: Worker, rotation: Rotation, seconds: float) -> None:
        """After a long time slice, let other blocks run before one that spins on memory and has barriers.

        When all resident blocks have had a time slice and none has ended, make room for twice as many.
        """
        if not self.lowered.spins or self.seed is not None or seconds < SPIN_SECONDS:
            return
        if rotation.next(worker["block"], worker["in_block"]):
            with self.lock:
                self._add_slots(worker, 2 * len(worker.table))
        worker["let_in"] = 1

    def idle(self, worker: Worker, epoch: int) -> bool:
        """After a round without progress: make more blocks resident, wait for other workers, or give up (False).

        A worker whose warps all wait finds the same again until another worker makes progress. When this holds for all
        workers and no block is left to start, the launch never ends.
        """
        with self.lock:
            worker.idle_at, worker.spun = epoch, worker["spun"]
            if worker["moved"]:  # it made progress before it began to wait: the others may go on now
                self.epoch += 1
            worker["spun"] = worker["moved"] = 0
            others = [w for w in self.workers if w is not worker and w.active]
            quiet = epoch == self.epoch and all(w.idle_at == epoch for w in others)
            if self.fault is not None:  # these blocks may wait for the one that failed
                return False
            if self.cooperative and self._add_slots(worker, 2 * len(worker.table)):
                return True
            if quiet and any(not w["ahead"] for w in (worker, *others)):
                # Lanes may wait for other lanes of their warp that were held back for them.
                for each in (worker, *others):
                    each["ahead"] = 1
                self.epoch += 1
                return True
            if (quiet or len(worker.table) < FEW) and self._add_slots(worker, len(worker.table) + self.together):
                return True
            full = not self._left() or all(len(w.table) >= self._capacity() for w in others)
            spun = functools.reduce(operator.or_, (w.spun for w in others), worker.spun)
            self.idle_rounds = self.idle_rounds + 1 if quiet and full and not spun & TRIED else 0
            if self.idle_rounds > (MOST_IDLE_ROUNDS if spun & STALLED else 0):
                self.fault = faults.all_wait(self)
                self.cancelled = True
                return False
        if others:
            time.sleep(0.0001)
        worker["slices"] = max(worker["slices"], 1)
        return True

    def _add_slots(self, worker: Worker, slots: int) -> bool:
        """Make room for so many resident blocks, as far as the GPU has it and there are blocks to start."""
        slots = min(slots, self._capacity())
        slots = max(1, slots // self.together) * self.together
        if not self._left() or slots <= len(worker.table):
            return False
        worker.grow(slots)
        self.epoch += 1
        return True

    def _left(self) -> bool:
        """Whether blocks have not been started yet."""
        return int(self.shared[LAUNCH_SLOT["next_block"]]) < int(self.shared[LAUNCH_SLOT["stop_block"]])

    def _capacity(self) -> int:
        """Blocks a worker may hold: all of a cooperative launch, else its share of what the GPU would hold."""
        if self.cooperative or self.seed is not None:
            return self.most
        if self._share is None:
            resident = residency.most_resident(self.kernel, self.block, self.shared_bytes)
            room = ROOM // sum(block_areas(self).values())
            self._share = max(1, min(-(-resident // len(self.workers)), room))
        return self._share

    def report(self, fault: faults.Fault) -> None:
        """Keep the fault of the lowest block, so that the reported fault doesn't depend on the worker threads."""
        self.stop(fault.block)
        with self.lock:
            if self.fault is None or fault.block < self.fault.block:
                self.fault = fault


@functools.lru_cache(maxsize=2)
def block_loop(independent: bool = False) -> int:
    """The address of the block loop, or of the plain one for launches whose blocks never wait for others."""
    return jit.address("wb_run_plain" if independent else "wb_run_blocks")


@functools.lru_cache(maxsize=2)
def _run_blocks(independent: bool = False) -> Callable[[int], int]:
    # CFUNCTYPE releases the GIL while the code runs.
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(block_loop(independent))


_pools: dict[int, ThreadPoolExecutor] = {}


def _pool() -> ThreadPoolExecutor:
    """This process's worker threads (a forked child needs its own)."""
    pid = os.getpid()
    if pid not in _pools:
        _pools.clear()
        _pools[pid] = ThreadPoolExecutor(max_workers=MOST_THREADS, thread_name_prefix="virtual-gpu")
    return _pools[pid]


def rest() -> None:
    """End this process's worker threads; the next launch starts new ones. Call it before a fork."""
    while _pools:
        _pools.popitem()[1].shutdown()
