"""The sanitizer: run a kernel and name every classic mistake in it, with the line, the threads and the usual cure.

`sanitize(kernel, grid, block, args)` runs the kernel once, for real, in a variant of its own that tells of every
access. What it finds does not depend on the order in which threads happened to run: two accesses are a race where
nothing orders them, whatever came out this time. What it takes to order them: barriers of the block, barriers with a
count, `__syncwarp` and the `.sync` instructions of a warp, fences with flags or atomics, in the order of the program
within one thread. Lanes of a warp are threads like others.

Blocks run one after another: a kernel in which a block waits for a later one, as `grid.sync()` does, ends in a
finding about time. What it does not find: races on paths that these arguments do not take; two equal values stored by
one line to one element (`found = 1`) are not reported, nor volatile accesses of different warps against each other
(flags). Of the threads that read an element since the last barrier two are remembered. Global memory counts as
unwritten where an array of floats still holds the fill of fresh memory; integers may be meant to be -1, so they are
never blamed.
"""

from __future__ import annotations

from helpers.callable_module import callable_module
from helpers.vgpu.sanitize.findings import Finding, Findings
from helpers.vgpu.sanitize.kinds import KINDS, Kind

__all__ = ["KINDS", "Finding", "Findings", "Kind", "sanitize"]


def sanitize(
    kernel, grid, block, args, *, shared_bytes: int = 0, races_in_global: bool = False,
    timeout: float | None = None, **meta,
) -> Findings:  # fmt: skip
    """Run `kernel` once under watch and list what is wrong with it.

    kernel: a `@cuda.jit` or `@triton.jit` kernel or a `cp.RawKernel`, of the virtual GPU or of a real one; grid, block:
    ints or tuples of up to three (Triton chooses the block: None, and `meta` are its constants and options); args: the
    tuple of arguments, which the launch really changes; shared_bytes: dynamic shared memory; races_in_global: look for
    races in global memory too; timeout: seconds (default 60). Accesses that are out of bounds are left out and the
    kernel goes on. Errors: `LaunchError` for a bad configuration, TypeError for what is no kernel.
    """
    from helpers.vgpu.prepare import prepare
    from helpers.vgpu.sanitize.run import run

    _, prepared, finish = prepare("sanitize", kernel, grid, block, args, meta)
    grid, block = prepared.grid or grid, prepared.block or block
    found = run(prepared, grid, block, shared_bytes or prepared.shared_bytes, races_in_global, timeout)
    finish()
    return found


callable_module(__name__)
