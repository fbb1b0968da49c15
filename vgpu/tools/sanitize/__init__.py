"""The sanitizer: run a kernel and report every classic mistake in it, with the line, the threads and the usual fix.

`sanitize(kernel, grid, block, args)` runs the kernel once, for real, as a variant that reports every access. The
findings don't depend on the order in which threads happened to run: two accesses are a race where nothing orders them,
whatever the result. Accesses are ordered by barriers of the block, barriers with a count, `__syncwarp` and the `.sync`
instructions of a warp, fences with flags or atomics, and program order within a thread. Lanes of a warp are separate
threads.

`schedule="random"` lets blocks, warps and lanes run in an order that a seed chooses. Several `seeds` also show whether
the result depends on the order. Blocks that wait for one another are resident together, in a cooperative launch all.

Not reported: races on paths that these arguments don't take; two equal values stored by one line to one element
(`found = 1`); volatile accesses of different warps against each other (flags). Of the threads that read an element
since the last barrier, two are remembered. Global memory counts as unwritten where an array of floats still holds the
fill of fresh memory; integers may be meant to be -1, so they are never reported. Memory from the kernel's heap (malloc,
new) counts as unwritten whatever its type. An allocation there that no pointer leads to at the end is reported as lost.
Freeing memory that other threads may still use is a race (`races_in_global`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vgpu.tools.sanitize.findings import Finding, Findings
from vgpu.tools.sanitize.kinds import KINDS, Kind
from vgpu.tools.sanitize.leaks import Leak, Leaks, leaks

if TYPE_CHECKING:
    from vgpu.tools.prepare import Dimensions, Grid

__all__ = ["KINDS", "Finding", "Findings", "Kind", "Leak", "Leaks", "leaks", "sanitize"]


def sanitize(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence,
    *, shared_bytes: int = 0, races_in_global: bool = False, timeout: float | None = None,
    schedule: str | None = None, seed: int | None = None, seeds: Sequence[int] = (), **meta: Any,
) -> Findings:  # fmt: skip
    """Run `kernel` under the sanitizer and list what is wrong with it.

    kernel: a `@cuda.jit` or `@triton.jit` kernel or a `cp.RawKernel`, of the virtual GPU or of a real one; grid, block:
    ints or tuples of up to three; args: the tuple of arguments, which the launch really changes; shared_bytes: dynamic
    shared memory; races_in_global: look for races in global memory too; timeout: seconds (default 60). schedule, seed:
    "random" and a number for another order of blocks, warps and lanes, as in `schedule.scheduled`. seeds: run once for
    each of these random schedules from the same memory, merge the findings and say whether the arrays differ at the
    end; what the first run wrote stays. A Triton kernel chooses its block itself:
    `sanitize(add, grid, None, (x, y, out, n), BLOCK=1024)`. Accesses that are out of bounds are left out and the kernel
    goes on. Errors: `LaunchError` for a bad configuration, TypeError for what is no kernel, ValueError for a schedule
    that does not exist.
    """
    from vgpu.base import own
    from vgpu.base import schedule as schedules
    from vgpu.tools.prepare import prepare
    from vgpu.tools.sanitize.run import run
    from vgpu.tools.sanitize.schedules import run_all

    if len(seeds) and (seed is not None or schedule == "sequential"):
        raise ValueError("give one seed, or several seeds; both belong to random schedules")
    chosen = schedules.chosen(schedule, seed)
    _, prepared, finish = prepare("sanitize", kernel, grid, block, args, meta)
    configuration = (
        prepared.grid or grid, prepared.block or block, shared_bytes or prepared.shared_bytes, races_in_global, timeout,
        prepared.cooperative,
    )  # fmt: skip
    with own.LAUNCHING:
        if len(seeds):
            found = run_all(prepared, lambda each: run(prepared, *configuration, each), tuple(int(s) for s in seeds))
        else:
            found = run(prepared, *configuration, chosen.seed)
    finish()
    return found


# `from vgpu import sanitize` may give the function, or this module.
setattr(sanitize, "leaks", leaks)  # noqa: B010 (a function has no attributes for mypy)
