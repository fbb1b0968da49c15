"""One launch: distributes the blocks of a grid over worker threads, and collects counts and faults.

Worker threads take blocks in order. A worker runs one block at a time, warp by warp, and makes further blocks resident
only when those it has wait for others. Now and then the workers return to Python, so that Ctrl-C and time-outs work,
and so that a grid whose blocks all wait for one another is reported.
"""

from __future__ import annotations

import ctypes
import functools
import math
import operator
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import numpy as np

from vgpu import faults
from vgpu.base import schedule, tracebacks
from vgpu.base.context import (
    ASYNCHRONOUS,
    BY_STATE_ONLY,
    BY_WARP,
    FAILED,
    IDLE,
    LAUNCH_SLOT,
    OUT_OF_FUEL,
    PC_DONE,
    SITE_BYTES,
    STALLED,
    TRIED,
)
from vgpu.base.errors import OutOfMemory
from vgpu.launch import counters as counting
from vgpu.launch import path, residency
from vgpu.launch.counters import Counters, Footprint
from vgpu.launch.deadline import Deadline
from vgpu.launch.shares import Shares
from vgpu.launch.worker import LANES, Worker, aligned, block_areas
from vgpu.lower import Lowered, sampling
from vgpu.lower.tallies import BASIC_BLOCK_SLOTS
from vgpu.lower.texture import SITE_KINDS as TEXTURE_KINDS
from vgpu.runtime import jit
from vgpu.storage import heap, memory, textures

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel

# Backward jumps of a warp per time slice: some milliseconds' work.
FUEL = 1 << 16
MOST_SLICES = 1 << 12  # rounds in which warps run out of fuel before the worker returns to Python
SPIN_SECONDS = 0.005  # after which a block that spins on memory lets other blocks run
BRIEF = 32  # warps of a launch that begins in the caller's thread
MOST_AT_ONCE, PORTIONS = 32, 16  # blocks that a worker takes at once at most; portions for each worker at least
FEW = 4  # blocks that a worker may have resident before all workers wait
REUSED_BYTES = 1 << 20  # of a launch's workers at most, for a later launch to use them again
NO_TEXTURES: tuple[np.ndarray, list[textures.Bound]] = np.zeros(1, np.int64), []
ROOM = 1 << 30  # bytes that a worker may have for blocks that wait for others in an ordinary launch
MOST_THREADS = 1 << 12  # at once; workers wait for one another, so that each needs a separate thread
MOST_IDLE_ROUNDS = 512  # in which all workers only wait, before waits for an mbarrier are a deadlock too
PATIENCE = 4  # rounds without progress for each of a block's warps; see `runtime.driver`


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


class Grid:
    """One launch: what its workers share."""

    def __init__(
        self,
        kernel: Kernel,
        lowered: Lowered,
        address: int,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        params: bytes,
        shared_bytes: int,
        dynamic: int,
        observe: bool,
        timeout: float,
        cooperative: bool = False,
        seed: int | None = None,
        watched: tuple[int, int] | None = None,
    ):
        self.kernel, self.lowered, self.address = kernel, lowered, address
        self.grid, self.block = grid, block
        self.observe, self.cooperative, self.seed = observe, cooperative, seed
        self.shared_bytes, self.dynamic_shared = shared_bytes, dynamic
        kinds = {site.kind for site in lowered.sites}
        # A kernel may take the address of a parameter and read through it: then it must be known memory.
        self.allocation = (
            memory.allocate(len(params) or 1, label="parameters") if lowered.parameters_addressed else None
        )
        self.params = aligned(max(16, len(params)), 256)
        if self.allocation is not None:
            self.params = memory.view(self.allocation, max(1, len(params)), np.uint8)
        self.workspace = None
        if cooperative:  # where the grid's barrier counts
            self.workspace = memory.allocate(256, label="barrier of the grid")
            ctypes.memset(self.workspace.address, 0, 256)
        self.heap = heap.ensure() if "heap" in kinds else heap.current()
        uses_textures = not kinds.isdisjoint(TEXTURE_KINDS)
        self.textures = textures.table(sampling.addresses) if uses_textures else NO_TEXTURES
        self.asynchronous = not kinds.isdisjoint(ASYNCHRONOUS)
        self.independent = seed is None and not (cooperative or lowered.spins or self.asynchronous)  # blocks never wait
        self.lane_ids, self.first_pcs = _lanes(block)
        self.warps = len(self.first_pcs)
        self.shared = np.zeros(len(LAUNCH_SLOT), np.int64)
        self.blocks = math.prod(grid)
        # What each warp does. One worker has a block and runs one warp at a time: no other thread writes there.
        self.by_warp = np.zeros((self.blocks, self.warps, len(BY_WARP)) if observe else 0, np.int64)
        self.path = None if watched is None else path.log()
        self.order = None if seed is None else schedule.block_order(self.blocks, seed)
        self.lock = threading.Lock()
        self.workers: list[Worker] = []
        self.slots = {
            "params": self.params.ctypes.data, "variables": kernel.module.variables.table.ctypes.data,
            "shared_bytes": shared_bytes, "local_bytes": lowered.local_bytes,
            **{f"ntid_{axis}": size for axis, size in zip("xyz", block, strict=True)},
            **{f"nctaid_{axis}": size for axis, size in zip("xyz", grid, strict=True)},
            "resume": BY_STATE_ONLY, "own_block": 0, "own_end": 0, "fuel_slice": FUEL, "warps": self.warps,
            "lane_ids": self.lane_ids.ctypes.data, "first_pcs": self.first_pcs.ctypes.data,
            "state_bytes": lowered.state_bytes, "launch": self.shared.ctypes.data, "run_warp": address, "slices": 1,
            "dynamic_shared": dynamic, "zeroed_shared": lowered.zeroed_shared, "zeroed_state": lowered.zeroed_state,
            "loose_barriers": lowered.loose_barriers,
            "textures": self.textures[0].ctypes.data, "texture_count": len(self.textures[0]),
            "workspace": 0 if self.workspace is None else self.workspace.address, "patience": PATIENCE * self.warps,
            "random": 0 if seed is None else schedule.state(seed), "lanes": (1 << LANES) - 1,
            "order": 0 if self.order is None else self.order.ctypes.data,
            "by_warp": self.by_warp.ctypes.data, "path": 0 if self.path is None else self.path.ctypes.data,
            "followed": -1 if watched is None else watched[0] * self.warps + watched[1],
        } | self._allocations()  # fmt: skip
        if (area := self.heap) is not None:
            self.slots |= {"heap": area.base, "heap_bytes": area.nbytes, "heap_owners": area.owners.ctypes.data,
                           "heap_ends": area.ends.ctypes.data}  # fmt: skip
        self.plain = not (
            observe or cooperative or self.asynchronous or uses_textures or "host" in kinds or self.heap is not None
            or self.allocation is not None or seed is not None or watched is not None
        )  # fmt: skip
        self._begin(params, timeout)

    def _begin(self, params: bytes, timeout: float) -> None:
        """Set what is different from launch to launch."""
        self.timeout = timeout
        self.params[: len(params)] = np.frombuffer(params, np.uint8)
        self.shared[LAUNCH_SLOT["next_block"]] = 0
        self.shared[LAUNCH_SLOT["blocks"]] = self.shared[LAUNCH_SLOT["stop_block"]] = self.blocks
        self.printed: list[tuple[int, int, str]] = []
        self.fault: faults.Fault | None = None
        self.assertion: tuple[bytes, ...] = ()  # the condition and file of a failed assert
        self.host_error: Exception | None = None  # what went wrong in a call out of the kernel
        self.cancelled = False
        self.missing = 0  # blocks that had not begun when the time was up
        self.idle_rounds = 0  # rounds in which all workers waited and none had made progress
        self.epoch = 0  # how often a worker reported progress
        self._share: int | None = None  # see `_capacity`

    def again(self, kernel: Kernel, params: bytes, timeout: float) -> None:
        """Make a grid that is `reusable` ready for another launch of its kernel, with other parameters."""
        self.kernel = kernel
        changed = {} if memory.tables() is self.tables else self._allocations()
        self._begin(params, timeout)
        for worker in self.workers:
            worker.begin_again(changed)

    @property
    def reusable(self) -> bool:
        """Whether the launch has ended well, and left nothing but memory of moderate size."""
        return (
            self.plain
            and self.fault is None
            and not (self.cancelled or self.missing)
            and sum([worker.nbytes for worker in self.workers]) <= REUSED_BYTES
            and all(len(worker.table) == 1 for worker in self.workers)
        )

    def _allocations(self) -> dict[str, int]:
        """Note which allocations there are, with maps of what the launch touches if it counts; the slots for them."""
        self.tables = starts, ends, writable_ends = memory.tables()
        self.table, self.writable_ends = (starts, ends), writable_ends
        self.touch_offsets, total = np.zeros(max(1, len(starts)), np.int64), 1
        if self.observe and len(starts):
            ends_of_maps = np.cumsum((ends - starts + np.uint64(31)) // np.uint64(32) + np.uint64(1))
            self.touch_offsets[1:], total = ends_of_maps[:-1], int(ends_of_maps[-1])
        heap_touch = total
        if self.observe and self.heap is not None:
            total += self.heap.nbytes // 32
        self.reads, self.writes = np.zeros(total, np.uint8), np.zeros(total, np.uint8)
        return {
            "starts": starts.ctypes.data, "ends": ends.ctypes.data, "writable_ends": writable_ends.ctypes.data,
            "allocations": len(starts), "touch_offsets": self.touch_offsets.ctypes.data, "heap_touch": heap_touch,
            "reads": self.reads.ctypes.data if self.observe else 0,
            "writes": self.writes.ctypes.data if self.observe else 0,
        }  # fmt: skip

    def make_workers(self, threads: int) -> None:
        """Make so many workers, unless there are some from an earlier launch."""
        try:
            self.workers = self.workers or [Worker(self) for _ in range(threads)]
        except MemoryError:
            raise OutOfMemory(
                f"out of memory on the virtual GPU: blocks of {math.prod(self.block)} threads, with "
                f"{self.lowered.local_bytes} bytes of local memory each, have no room on this machine. Use smaller "
                "blocks or local arrays, or delete arrays that are no longer needed (del name)."
            ) from None
        self.shared[LAUNCH_SLOT["portion"]] = max(1, min(MOST_AT_ONCE, self.blocks // (PORTIONS * len(self.workers))))

    def run(self, threads: int) -> None:
        """Run all blocks on so many worker threads; a fault is kept in `fault`."""
        self.make_workers(threads)
        self.most = self.blocks  # blocks that one worker may have resident
        if self.seed is not None:
            self.most = self.blocks if self.cooperative else min(self.blocks, schedule.WINDOW)
            self.workers[0].grow(self.most)
        self.deadline = Deadline(self.timeout)
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
        if self.fault is None and self.missing:
            self.fault = faults.unfinished(self)

    @property
    def brief(self) -> bool:
        """Whether the first time slice may run in the caller's thread: it's short, and doesn't call Python."""
        return self.small and len(self.workers) == 1 and self.workers[0].callback is None

    @property
    def small(self) -> bool:
        """Whether one worker runs it."""
        return self.warps * self.blocks <= BRIEF

    def start_workers(self) -> list[Future[bool]]:
        """Start a thread for each worker, or for fewer of them where the system has no further thread.

        Handing a small launch to another thread takes longer than most of them do. So this thread runs the first time
        slice, and another one what is left: the limits on time and Ctrl-C work as they do elsewhere.
        """
        if self.brief and self.work(self.workers[0], to_end=False):
            return []
        futures = []
        for worker in self.workers:
            try:
                futures.append(_pool().submit(self.work, worker))
            except RuntimeError:
                with self.lock:
                    worker.active = not futures  # it may have been queued all the same
                if not futures:  # the interpreter is about to end
                    self.work(worker)
        return futures

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
            if (quiet or len(worker.table) < FEW) and self._add_slots(worker, len(worker.table) + 1):
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

    def counters(self) -> Counters:
        """The counts of all workers, summed."""
        lowered = self.lowered
        sites = _sum([w.sites.view(np.int64).reshape(-1, SITE_BYTES // 8) for w in self.workers])[: len(lowered.sites)]
        basic_blocks = _sum([w.basic_blocks.view(np.int64).reshape(-1, BASIC_BLOCK_SLOTS) for w in self.workers])
        files = self.kernel.module.module.files
        lines, total = counting.gather(lowered, files, self.kernel.filename, sites, basic_blocks)
        footprint = Footprint(32 * int(np.count_nonzero(self.reads)), 32 * int(np.count_nonzero(self.writes)))
        instructions, requests = (self.by_warp[:, :, index] for index in range(len(BY_WARP)))
        shares = Shares(instructions, requests, self.grid)
        followed = None if self.path is None else path.read(self.kernel, lowered, self.path)
        return Counters(
            lines, total, footprint, self.grid, self.block, self.warps * self.blocks, self.shared_bytes, shares,
            followed,
        )  # fmt: skip


def _sum(arrays: list[np.ndarray]) -> np.ndarray:
    return functools.reduce(operator.add, arrays)


@functools.lru_cache(maxsize=64)
def _lanes(block: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Thread indices (warps, 3, 32) and first program counters (warps, 32) of a block's warps."""
    threads = math.prod(block)
    warps = -(-threads // LANES)
    linear = np.arange(warps * LANES)
    ids = np.stack([linear % block[0], linear // block[0] % block[1], linear // (block[0] * block[1])])
    lane_ids = aligned(warps * 3 * LANES * 4).view(np.int32).reshape(warps, 3, LANES)
    lane_ids[:] = ids.reshape(3, warps, LANES).transpose(1, 0, 2)
    first = aligned(warps * LANES * 4).view(np.int32).reshape(warps, LANES)
    first[:] = np.where(linear < threads, 0, PC_DONE).reshape(warps, LANES)
    return lane_ids, first


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
