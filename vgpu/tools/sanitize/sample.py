"""Races in the first blocks of a launch, for its profile: the sanitizer at a bounded cost.

A result that depends on a race is wrong whatever it costs. So the first blocks of a counted launch run once more under
the sanitizer, from the same memory and without effects. That takes some milliseconds, and once in a process 60 more.

Only races in shared memory are looked for: a few blocks show little of those in global memory. Not looked at are
kernels without shared memory, launches whose blocks wait for one another, kernels that allocate memory, arrays of more
than `MOST_BYTES`, blocks that execute more than `MOST_INSTRUCTIONS`, and what the sanitizer refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.base import own
from vgpu.base.errors import Unsupported
from vgpu.launch import launch, restored
from vgpu.tools.sanitize.run import launched

if TYPE_CHECKING:
    from vgpu.launch.counters import Counters
    from vgpu.launch.launch import Prepared
    from vgpu.lower import Lowered
    from vgpu.tools.sanitize.findings import Finding

BLOCKS = 4
MOST_INSTRUCTIONS = 200_000  # of warps, in PTX, of all blocks that are looked at
MOST_BYTES = 256 << 20  # of the arrays, which are copied before the launch


class Sample:
    """The first blocks of a launch. Made before it; `races` looks at them afterwards.

    lowered: the kernel as it is counted; grid, block, dynamic_shared_bytes: those of the launch.
    """

    def __init__(
        self, prepared: Prepared, lowered: Lowered, grid: tuple[int, int, int], block: tuple[int, int, int],
        dynamic_shared_bytes: int = 0,
    ):  # fmt: skip
        self._prepared, self._launch = prepared, (grid, block, dynamic_shared_bytes)
        waits = prepared.cooperative or lowered.spins
        looked_at = launch.check_shared(lowered, dynamic_shared_bytes) and not waits
        looked_at = looked_at and not any(site.kind == "heap" for site in lowered.sites)
        looked_at = looked_at and restored.nbytes(prepared) <= MOST_BYTES
        self._before = restored.Saved(prepared) if looked_at else None

    def races(self, counters: Counters) -> tuple[Finding, ...]:
        """The races in shared memory, given what the launch counted; none where nothing is looked at."""
        if self._before is None or counters.by_warp is None:
            return ()
        instructions = counters.by_warp.instructions[:BLOCKS].sum(axis=1).cumsum()
        blocks = int((instructions <= MOST_INSTRUCTIONS).sum())
        if not blocks:
            return ()
        with own.LAUNCHING, restored.restored(self._prepared):
            self._before.put_back()
            try:
                found, _ = launched(self._prepared, *self._launch, False, None, False, blocks=blocks)
            except Unsupported:
                return ()
        return tuple(each for each in found.errors if each.kind.startswith("race_") and each.space == "shared")
