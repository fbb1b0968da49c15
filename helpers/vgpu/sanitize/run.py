"""A launch under watch: one worker, blocks in order, and faults that do not end it where it can go on."""

from __future__ import annotations

import functools
import os
import time

from helpers.vgpu import faults, host_calls, jit, launch
from helpers.vgpu import grid as grids
from helpers.vgpu.context import FAILED, IDLE, OUT_OF_FUEL, SLOT
from helpers.vgpu.runtime import shadow
from helpers.vgpu.sanitize.findings import Findings
from helpers.vgpu.sanitize.monitor import Monitor
from helpers.vgpu.sanitize.names import Names
from helpers.vgpu.sanitize.report import Report

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

    def work(self, worker) -> None:
        self.monitor.attach(worker)
        run_blocks = grids._run_blocks()
        while True:
            status = run_blocks(worker.pointer)
            if self.monitor.error is not None:
                raise self.monitor.error
            if status in (OUT_OF_FUEL, IDLE) and not self.cancelled:
                if status == IDLE:  # perhaps lanes wait for others of their own warp, held back for them
                    worker["ahead"] = 1
                if time.monotonic() < self.deadline:
                    worker.slots[SLOT["slices"]] = 1
                    continue
                self.cancelled = True
                self.findings.fault(faults.timed_out(worker, self))
            elif status == FAILED:  # this block cannot go on; the others can
                self.findings.fault(faults.failed(worker, self))
                worker.slots[SLOT["error"]] = 0
                continue
            return


def run(prepared, grid, block, shared_bytes: int, races_in_global: bool, timeout: float | None) -> Findings:
    """Launch a prepared kernel under watch."""
    kernel = prepared.kernel
    grid, block = launch.check_dimensions(grid, block)
    _runtime()
    lowered, address = kernel.compiled(watch=True)
    needed = launch.check_shared(lowered, shared_bytes)
    timeout = float(os.environ.get("WARPBOOK_TIMEOUT", 60)) if timeout is None else timeout
    packed = launch.pack(kernel, prepared.params)
    running = _Watched(kernel, lowered, address, grid, block, packed, needed, shared_bytes, False, timeout)
    running.given = prepared.params
    running.findings = Report(Names(kernel, lowered, grid, block, prepared.arrays))
    running.monitor = Monitor(running, running.findings, prepared.arrays, races_in_global)
    if any(place.kind in ("fence", "mbarrier") for place in lowered.places):
        running.slots["fuel_slice"] = SPINS  # lanes that spin on a flag tell of every turn
    running.go(1)
    host_calls.flush(running.printed)
    for listener in launch.LAUNCHED:
        listener(kernel, grid, block, shared_bytes)
    found = running.findings.findings(running.monitor.pairs)
    running.monitor.close()
    return Findings(kernel.name, found, not running.findings.ended_early)
