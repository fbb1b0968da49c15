"""The sanitizer: run a kernel and name every classic mistake in it, with the line, the threads and the usual cure.

`sanitize(kernel, grid, block, args)` runs the kernel once, for real, in a variant of its own that tells of every
access. What it finds does not depend on the order in which threads happened to run: two accesses are a race where
nothing orders them, whatever came out this time. What it takes to order them: barriers of the block, barriers with a
count, `__syncwarp` and the `.sync` instructions of a warp, fences with flags or atomics, in the order of the program
within one thread. Lanes of a warp are threads like others.

`schedule="random"` lets blocks, warps and lanes run in an order that a seed chooses; several `seeds` also show whether
the result depends on it. Blocks that wait for one another are resident together, in a cooperative launch all of them.
What it does not find: races on paths that these arguments do not take; two equal values stored by
one line to one element (`found = 1`) are not reported, nor volatile accesses of different warps against each other
(flags). Of the threads that read an element since the last barrier two are remembered. Global memory counts as
unwritten where an array of floats still holds the fill of fresh memory; integers may be meant to be -1, so they are
never blamed. Memory that a kernel takes from its heap with malloc or new counts as unwritten whatever its type; what
the launch leaves there without any pointer to it is lost, and said so; what it frees while other threads may still use
it is a race (`races_in_global`).
"""

from __future__ import annotations

from collections.abc import Sequence

from vgpu.tools.sanitize.findings import Finding, Findings
from vgpu.tools.sanitize.kinds import KINDS, Kind
from vgpu.tools.sanitize.leaks import Leak, Leaks, leaks

__all__ = ["KINDS", "Finding", "Findings", "Kind", "Leak", "Leaks", "leaks", "sanitize"]


def sanitize(
    kernel, grid, block, args, *, shared_bytes: int = 0, races_in_global: bool = False, timeout: float | None = None,
    schedule: str | None = None, seed: int | None = None, seeds: Sequence[int] = (), **meta,
) -> Findings:  # fmt: skip
    """Run `kernel` under watch and list what is wrong with it.

    kernel: a `@cuda.jit` or `@triton.jit` kernel or a `cp.RawKernel`, of the virtual GPU or of a real one; grid, block:
    ints or tuples of up to three; args: the tuple of arguments, which the launch really changes; shared_bytes: dynamic
    shared memory; races_in_global: look for races in global memory too; timeout: seconds (default 60). schedule, seed:
    "random" and a number for another order of blocks, warps and lanes, as in `schedule.scheduled`. seeds: run once for
    each of these random schedules from the same memory, put the findings together and say whether the arrays came out
    differently; what the first run wrote stays. A Triton kernel chooses its block itself:
    `sanitize(add, grid, None, (x, y, out, n), BLOCK=1024)`. Accesses that are out of bounds are left out and the kernel
    goes on. Errors: `LaunchError` for a bad configuration, TypeError for what is no kernel, ValueError for a schedule
    that does not exist.
    """
    from vgpu.base import own
    from vgpu.base import schedule as plans
    from vgpu.tools.prepare import prepare
    from vgpu.tools.sanitize.run import run
    from vgpu.tools.sanitize.schedules import run_all

    if len(seeds) and (seed is not None or schedule == "sequential"):
        raise ValueError("give one seed, or several seeds; both belong to random schedules")
    chosen = plans.chosen(schedule, seed)
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


sanitize.leaks = leaks  # `from vgpu import sanitize` may give the function, or this module
