"""A launch under watch, which counts as well where that is wanted: one worker, and faults that do not end it where it
can go on."""

from __future__ import annotations

import functools
import math
import time

import numpy as np

from vgpu import faults
from vgpu.base import settings
from vgpu.base.context import ENTRY_HOMES, FAILED, IDLE, OUT_OF_FUEL, RESIDENT, RESIDENT_SLOT
from vgpu.base.errors import Unsupported
from vgpu.launch import grid as grids
from vgpu.launch import host_calls, launch, residency
from vgpu.launch.counters import Counters
from vgpu.runtime import jit, shadow
from vgpu.tools.sanitize.findings import Findings
from vgpu.tools.sanitize.heap_watch import lost
from vgpu.tools.sanitize.monitor import Monitor
from vgpu.tools.sanitize.names import Names
from vgpu.tools.sanitize.report import Report

SPINS = 64  # backward jumps before other lanes and warps get their turn, where threads wait for one another


@functools.lru_cache(maxsize=1)
def _runtime() -> None:
    """Compile what watched kernels call, once a process."""
    jit.address("wb_run_blocks")
    jit.compile_ir(shadow.source(), ())


class _Watched(grids.Grid):
    """A launch whose faults become findings."""

    monitor: Monitor
    findings: Report
    counted: Counters | None

    def work(self, worker) -> None:
        worker.running = True
        try:
            self._work(worker)
        finally:
            worker.running = False

    def _work(self, worker) -> None:
        self.monitor.attach(worker)
        run_blocks = grids._run_blocks()
        slices, rotation = 1, grids.Rotation()
        while True:
            began, epoch = time.monotonic(), self.epoch
            status = run_blocks(worker.pointer)
            now = time.monotonic()
            if self.monitor.error is not None:
                raise self.monitor.error
            if status == FAILED:  # this block cannot go on; the others can
                self.findings.fault(faults.failed(worker, self))
                worker["error"] = 0
                self._abandon(worker)
                continue
            if status not in (OUT_OF_FUEL, IDLE) or self.cancelled:
                return
            if self.deadline.passed():
                self.cancelled = True
                self.findings.fault(faults.timed_out(worker, self))
                return
            if status == OUT_OF_FUEL:
                self.epoch += 1
                worker["moved"] = 0
                slices = worker["slices"] = self.slices_after(slices, now - began)
                self.rotate(worker, rotation, now - began)
            elif not self.idle(worker, epoch):
                if not self.findings.ended_early:  # else they wait for a block that could not go on
                    self.findings.fault(self.fault)
                return

    def _abandon(self, worker) -> None:
        """The block that failed leaves its place; another that is resident has its turn."""
        block = RESIDENT_SLOT["block"]
        worker.table[worker["resident_slot"], block] = -1
        left = np.flatnonzero(worker.table[:, block] >= 0)
        worker["in_block"], worker["progress"] = len(left), 1
        if len(left):
            for name in RESIDENT:
                worker[name] = worker.table[left[0], RESIDENT_SLOT[name]]
            worker["resident_slot"] = int(left[0])
            self.monitor.on_enter()

    def _capacity(self) -> int:
        return min(super()._capacity(), ENTRY_HOMES)


def run(
    prepared, grid, block, shared_bytes: int, races_in_global: bool, timeout: float | None, cooperative: bool = False,
    seed: int | None = None,
) -> Findings:  # fmt: skip
    """Launch a prepared kernel under watch, in order or (with a seed) by a random schedule."""
    return _run(prepared, grid, block, shared_bytes, races_in_global, timeout, cooperative, seed)[0]


def counted(
    prepared, grid, block, timeout: float, followed: tuple[int, int] | None = None
) -> tuple[Findings, Counters]:
    """The findings (races in global memory included) and the counters of one launch.

    A kernel that is judged by both is launched once for both, so it can't behave differently when it's watched.
    followed: the `watched` of `launch.launch`. Errors: as `launch.launch`; a fault is raised, not listed.
    """
    found, running = _run(
        prepared, grid, block, prepared.shared_bytes, True, timeout, prepared.cooperative, observe=True,
        followed=followed,
    )  # fmt: skip
    if running.findings.error is not None:
        raise running.findings.error
    return found, running.counted


def _run(
    prepared, grid, block, shared_bytes, races_in_global, timeout, cooperative, seed=None, observe=False, followed=None
) -> tuple[Findings, _Watched]:
    kernel = prepared.kernel
    grid, block = launch.check_dimensions(grid, block)
    _runtime()
    lowered, address = kernel.compiled(observe, seed is not None, watch=True, follow=followed is not None)
    needed = launch.check_shared(lowered, shared_bytes)
    if cooperative:
        residency.check_cooperative(kernel, grid, block, needed)
        if math.prod(grid) > ENTRY_HOMES:
            raise Unsupported(
                f"a cooperative launch of {math.prod(grid)} blocks is too large to be watched: sanitize it with at "
                f"most {ENTRY_HOMES} blocks."
            )
    timeout = settings.timeout(timeout)
    packed = launch.pack(kernel, prepared.params)
    running = _Watched(
        kernel,
        lowered,
        address,
        grid,
        block,
        packed,
        needed,
        shared_bytes,
        observe,
        timeout,
        cooperative,
        seed,
        followed,
    )
    running.given = prepared.params
    running.findings = Report(Names(kernel, lowered, grid, block, prepared.arrays), cooperative)
    running.monitor = Monitor(running, running.findings, prepared.arrays, races_in_global)
    if any(place.kind in ("fence", "mbarrier") for place in lowered.places):
        running.slots["fuel_slice"] = SPINS  # lanes that spin on a flag tell of every turn
    before = running.heap.last if running.heap is not None else 0
    try:
        running.run(1)
    except BaseException:
        running.monitor.close()
        raise
    if running.heap is not None and not running.findings.ended_early:
        running.findings.lost(lost(running.heap, before))
    if running.missing and not running.findings.ended_early:
        running.findings.fault(running.fault)
    host_calls.flush(running.printed)
    found = running.findings.findings(running.monitor.pairs)
    running.counted = running.counters() if observe else None
    running.monitor.close()
    seeds, to_end = () if seed is None else (seed,), not running.findings.ended_early
    return Findings(kernel.name, found, to_end, seeds, races_in_global), running
