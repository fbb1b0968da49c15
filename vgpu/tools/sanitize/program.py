"""The sanitizer for whole programs: within `watching`, every launch runs under it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from vgpu.launch import launch
from vgpu.launch.grid import Grid
from vgpu.launch.restored import restored
from vgpu.tools.sanitize.findings import Findings
from vgpu.tools.sanitize.run import launched
from vgpu.tools.sanitize.schedules import run_all


@contextlib.contextmanager
def watching(
    found: Callable[[Findings, Grid], object], *, races_in_global: bool = True, seeds: Sequence[int] = ()
) -> Iterator[None]:
    """Run every launch of the `with` block under the sanitizer, and call `found` with its findings.

    A fault is a finding, after which the program goes on. seeds: run each launch for each of these random schedules
    first, from the same memory and without effects. Launches are counted for those who listen.
    """

    def run(
        kernel: launch.Kernel, grid: Any, block: Any, params: Any, arrays: Any, shared_bytes: int,
        *, counted: bool, cooperative: bool = False, timeout: float | None = None, schedule: Any = None, **_: Any,
    ) -> Grid:  # fmt: skip
        prepared = launch.Prepared(kernel, list(params), list(arrays), shared_bytes, cooperative=cooperative)
        done: list[Grid] = []

        def once(seed: int | None) -> Findings:
            findings, ran = launched(
                prepared, grid, block, shared_bytes, races_in_global, timeout, cooperative, seed, observe=counted
            )
            done.append(ran)
            return findings

        others = None
        if seeds:
            with restored(prepared):
                others = run_all(prepared, once, seeds)
        findings = once(getattr(schedule, "seed", None))
        found(findings if others is None else findings.joined(others), done[-1])
        return done[-1]

    with launch.RUNNERS.hearing(run):
        yield
