"""A launch under the sanitizer, counted as well on request: one worker, which goes on after faults where it can."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from vgpu import faults
from vgpu.base import settings
from vgpu.base.context import ENTRY_HOMES, RESIDENT, RESIDENT_SLOT
from vgpu.base.errors import Unsupported
from vgpu.launch import grid as grids
from vgpu.launch import host_calls, launch, residency
from vgpu.runtime import jit, shadow
from vgpu.tools.sanitize.findings import Findings
from vgpu.tools.sanitize.heap_watch import lost
from vgpu.tools.sanitize.monitor import Monitor
from vgpu.tools.sanitize.names import LaunchNames
from vgpu.tools.sanitize.report import Report

if TYPE_CHECKING:
    from concurrent.futures import Future

    from vgpu.launch.counters import Counters
    from vgpu.launch.launch import Prepared
    from vgpu.launch.worker import Worker
    from vgpu.tools.prepare import Dimensions, Grid

SPINS = 64  # backward jumps in a time slice where threads wait for one another


@functools.lru_cache(maxsize=1)
def _compile_runtime() -> None:
    """Compile what watched kernels call, once per process."""
    jit.address("wb_run_blocks")
    jit.compile_ir(shadow.source(), ())


class _WatchedGrid(grids.Grid):
    """A launch whose faults become findings. It goes on with other blocks after one has failed."""

    monitor: Monitor
    findings: Report
    given: list[bytes]
    counted: Counters | None = None
    brief = False  # watched code calls Python at each finding, where Ctrl-C must not end up

    def counters(self) -> Counters:
        """The counters, which are read once: before the monitor lets the workers' memory go."""
        if self.counted is None:
            self.counted = super().counters()
        return self.counted

    def start_workers(self) -> list[Future[bool]]:
        self.independent = False  # watched code is compiled for the block loop in which blocks may wait for others
        for worker in self.workers:
            self.monitor.attach(worker)
        return super().start_workers()

    def report(self, fault: faults.Fault) -> None:
        self.findings.fault(fault)

    def fail(self, worker: Worker) -> bool:
        if self.monitor.error is not None:
            return False
        self.report(faults.failed(worker, self))
        worker["error"] = 0
        self._leave_slot(worker)
        return True

    def idle(self, worker: Worker, epoch: int) -> bool:
        goes_on = super().idle(worker, epoch)
        # The others may wait for what a failed block would have done; that is no finding.
        if not goes_on and self.fault is not None and not self.findings.ended_early:
            self.report(self.fault)
        return goes_on

    def _leave_slot(self, worker: Worker) -> None:
        """The block that failed leaves its slot, and those of its cluster theirs; another resident block runs next."""
        block, slot = RESIDENT_SLOT["block"], worker["resident_slot"]
        first = slot - slot % self.together
        worker.table[first : first + self.together, block] = -1
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
    prepared: Prepared, grid: Grid, block: Dimensions | None, shared_bytes: int, races_in_global: bool,
    timeout: float | None, cooperative: bool = False, seed: int | None = None,
) -> Findings:  # fmt: skip
    """Launch a prepared kernel under the sanitizer, in order or (with a seed) by a random schedule."""
    return launched(prepared, grid, block, shared_bytes, races_in_global, timeout, cooperative, seed)[0]


def counted(
    prepared: Prepared, grid: Grid, block: Dimensions | None, timeout: float, followed: tuple[int, int] | None = None
) -> tuple[Findings, Counters]:
    """The findings (races in global memory included) and the counters of one launch.

    A kernel that is judged by both is launched once for both, so it can't behave differently when it's watched.
    followed: the `watched` of `launch.launch`. Errors: as `launch.launch`; a fault is raised, not listed.
    """
    found, running = launched(
        prepared, grid, block, prepared.shared_bytes, True, timeout, prepared.cooperative, observe=True,
        followed=followed,
    )  # fmt: skip
    if running.findings.error is not None:
        raise running.findings.error
    return found, running.counters()


def launched(
    prepared: Prepared, grid: Grid, block: Dimensions | None, shared_bytes: int, races_in_global: bool,
    timeout: float | None, cooperative: bool, seed: int | None = None, observe: bool = False,
    followed: tuple[int, int] | None = None, blocks: int | None = None,
) -> tuple[Findings, _WatchedGrid]:  # fmt: skip
    """The findings of a launch, and the launch itself; with `blocks` of its first blocks only, which print nothing."""
    kernel = prepared.kernel
    grid, block = launch.check_dimensions(grid, block)
    _compile_runtime()
    lowered, address = kernel.compiled(observe, seed is not None, watch=True, follow=followed is not None)
    needed = launch.check_shared(lowered, shared_bytes)
    if cooperative:
        residency.check_cooperative(kernel, grid, block, needed)
        if math.prod(grid) > ENTRY_HOMES:
            raise Unsupported(
                f"a cooperative launch of {math.prod(grid)} blocks is too large to be watched: sanitize it with at "
                f"most {ENTRY_HOMES} blocks."
            )
    running = _WatchedGrid(
        kernel, lowered, address, grid, block, launch.pack(kernel, prepared.params), needed, shared_bytes, observe,
        settings.timeout(timeout), cooperative, seed, followed,
    )  # fmt: skip
    running.given = prepared.params
    running.findings = Report(LaunchNames(kernel, grid, block, prepared.arrays), lowered, cooperative)
    running.monitor = Monitor(running, running.findings, prepared.arrays, races_in_global)
    if any(place.kind in ("fence", "mbarrier") for place in lowered.places):
        running.slots["fuel_slice"] = SPINS  # lanes that spin on a flag report every iteration
    if blocks is not None:
        running.stop(blocks)
    before = running.heap.last if running.heap is not None else 0
    try:
        running.run(1)
        if running.monitor.error is not None:
            raise running.monitor.error
    except BaseException:
        running.monitor.close()
        raise
    if running.heap is not None and not running.findings.ended_early:
        running.findings.lost(lost(running.heap, before))
    if running.missing and running.fault is not None and not running.findings.ended_early:
        running.findings.fault(running.fault)
    if blocks is None:
        host_calls.flush(running.printed)
    found = running.findings.findings(running.monitor.pairs)
    if observe:
        running.counters()
    running.monitor.close()
    seeds, to_end = () if seed is None else (seed,), not running.findings.ended_early
    return Findings(kernel.name, found, to_end, seeds, races_in_global), running
