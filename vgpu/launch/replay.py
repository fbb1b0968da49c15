"""Launches that are run together again and again, as by a graph: prepared once, and run by one call of compiled code.

That holds for small launches that need nothing of the host. A launch that isn't done after its first time slice, or has
failed, goes on as a single one would: so the limits on time, Ctrl-C and reports of errors are the same. All others are
launched one by one, and all of them are where launches are counted or watched, follow a schedule, or may access memory
that a kernel has allocated.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence

import numpy as np

from vgpu import faults
from vgpu.base import own, schedule, settings
from vgpu.base.context import FAILED, REPLAY, REPLAY_SLOT
from vgpu.launch import launch
from vgpu.launch.grid import REUSED_BYTES, Grid
from vgpu.launch.running import block_loop
from vgpu.launch.worker import aligned
from vgpu.runtime import jit
from vgpu.storage import heap, memory

TOGETHER = 64  # launches between two looks at Ctrl-C


class Replay:
    """Prepared launches, in order. Their grids and blocks are set, and their arguments stay as they are."""

    def __init__(self, launches: Sequence[launch.Prepared]):
        self._launches = launches
        self._grids: dict[tuple[object, ...], Grid] = {}  # launches of one kernel and shape take turns in its memory
        self._ready: list[Grid | None] = []  # the grid of each launch, None for one that is launched singly
        self._ends: list[int] = []  # up to where launches can be run together from this one on
        self._records = np.zeros((0, len(REPLAY)), np.int64)
        self._params: list[np.ndarray] = []

    def run(self) -> None:
        """Run and finish all launches. Errors: as `launch.launch`."""
        alone = launch.FINISHED or launch.RUNNERS or heap.current() or schedule.chosen() != schedule.Schedule()
        begin = 0
        with own.LAUNCHING:
            while begin < len(self._launches):
                if not alone:
                    self._prepare()
                if alone or self._ready[begin] is None:
                    self._run_one(begin)
                    begin += 1
                else:
                    begin = self._run_some(begin)

    def _run_some(self, begin: int) -> int:
        """Run launches that are ready from this one on; the number of the first that was not run."""
        end = min(self._ends[begin], begin + TOGETHER)
        reached = _replay()(self._records.ctypes.data, begin, end)
        try:
            if reached < end:
                self._go_on(reached)
        finally:
            for number in range(begin, reached):
                self._launches[number].finish()
        if reached < end:
            self._launches[reached].finish()
            reached += 1
        return reached

    def _run_one(self, number: int) -> None:
        given = self._launches[number]
        launch.launch(
            given.kernel, given.grid, given.block, given.params, given.arrays, given.shared_bytes,
            cooperative=given.cooperative,
        )  # fmt: skip
        given.finish()

    def _go_on(self, number: int) -> None:
        """Run a launch to its end that has had its first time slice."""
        given, ready, self._ready = self._launches[number], self._ready, []  # which are made anew after an error
        grid = ready[number]
        assert grid is not None and given.grid is not None and given.block is not None
        grid.timeout = settings.timeout()
        (worker,) = grid.workers
        if self._records[number, REPLAY_SLOT["status"]] == FAILED:
            grid.fail(worker)
        else:
            worker["slices"] = 2
            grid.run(1)
        fault = grid.fault
        if grid.reusable:
            grid.again(given.kernel, b"", grid.timeout)
            self._ready = ready
        if fault is not None:
            raise faults.error(given.kernel, grid.lowered, fault, given.grid, given.block, given.arrays)

    # -- before a run

    def _prepare(self) -> None:
        """Make the grids, or let them know the allocations that there are now."""
        if not self._ready:
            self._make()
        for grid in self._grids.values():
            if memory.tables() is not grid.tables:
                grid.again(grid.kernel, b"", grid.timeout)

    def _make(self) -> None:
        self._grids, self._params = {}, []
        self._records = np.zeros((len(self._launches), len(REPLAY)), np.int64)
        self._ready = [self._grid(given) for given in self._launches]
        self._ends = list(range(1, len(self._ready) + 1))
        for number in reversed(range(len(self._ends) - 1)):
            if self._ready[number + 1] is not None:
                self._ends[number] = self._ends[number + 1]
        for record, grid, given in zip(self._records, self._ready, self._launches, strict=True):
            if grid is not None:
                record[:] = self._record(grid, given)

    def _grid(self, given: launch.Prepared) -> Grid | None:
        """The grid of a launch that can be run together with others, else None."""
        if given.cooperative:
            return None
        assert given.grid is not None and given.block is not None
        made = launch.usual(given.kernel, given.grid, given.block, given.params, given.shared_bytes)
        shape = made.lowered, made.grid, made.block, given.shared_bytes
        if (found := self._grids.get(shape)) is not None:
            return found
        if not (made.plain and made.small):
            return None
        made.make_workers(1)
        if made.workers[0].nbytes > REUSED_BYTES:
            return None
        self._grids[shape] = made
        return made

    def _record(self, grid: Grid, given: launch.Prepared) -> list[int]:
        (worker,) = grid.workers
        assert worker.first is not None, "its grid is plain"
        data = launch.pack(given.kernel, given.params)
        params = aligned(max(16, len(data)), 256)
        params[: len(data)] = np.frombuffer(data, np.uint8)
        self._params.append(params)
        known = {
            "own": worker.own.ctypes.data, "first": worker.first.ctypes.data, "nbytes": len(worker.own),
            "launch": grid.shared.ctypes.data, "blocks": grid.blocks, "loop": block_loop(grid.independent),
            "context": worker.pointer, "params": params.ctypes.data, "status": 0,
        }  # fmt: skip
        return [known[name] for name in REPLAY]


@functools.lru_cache(maxsize=1)
def _replay() -> Callable[[int, int, int], int]:
    # CFUNCTYPE releases the GIL while the code runs.
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(jit.address("wb_replay"))
