"""How a launch shares its work out: how many instructions each warp executes.

Counters are sums, and a sum is the same whether all warps work or one does everything while the others have ended. This
is what tells the two apart. It comes from the reference interpreter, on a copy of the arrays.
"""

from __future__ import annotations

import math
from collections import Counter

from helpers.vgpu import reference
from helpers.vgpu.prepare import prepare
from helpers.vgpu.trace import check_place, restored

WARP = 32
MOST = 60_000


def instructions_of_warps(
    kernel, grid, block, args, *, shared_bytes: int = 0, most: int = MOST, **meta
) -> tuple[int, ...]:
    """The PTX instructions that each warp of a launch executes, block after block.

    kernel, grid, block, args, shared_bytes, meta: as at the launch, whose arrays stay as they are. Errors: as a launch;
    KernelTimeout beyond `most` instructions of all warps together.
    """
    _, prepared, _ = prepare("balance", kernel, grid, block, args, meta)
    grid, block, _ = check_place(prepared.grid or grid, prepared.block or block, 0)
    seen: Counter = Counter()

    def note(step: reference.Step) -> None:
        seen[step.block, step.warp] += 1

    with restored(prepared):
        reference.run(
            prepared.kernel, None, grid, block, prepared.params,
            shared_bytes=shared_bytes or prepared.shared_bytes, on_step=note, output=lambda text: None,
            cooperative=prepared.cooperative, max_steps=most,
        )  # fmt: skip
    blocks = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
    warps = -(-math.prod(block) // WARP)
    return tuple(seen[index, warp] for index in blocks for warp in range(warps))
