"""How a launch shares its work out: how many instructions each warp executes, and who asks for most of the memory.

Counters are sums, and a sum is the same whether all warps work or one does everything while the others have ended. This
is what tells the two apart. It comes from the reference interpreter, on a copy of the arrays.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter

from helpers.vgpu import reference
from helpers.vgpu.errors import KernelTimeout
from helpers.vgpu.prepare import prepare
from helpers.vgpu.trace import check_place, run_block

WARP = 32
MOST = 60_000
FEW = 4


def instructions_of_warps(
    kernel, grid, block, args, *, shared_bytes: int = 0, most: int = MOST, **meta
) -> tuple[int, ...]:
    """The PTX instructions that each warp of a launch executes, block after block.

    kernel, grid, block, args, shared_bytes, meta: as at the launch, whose arrays stay as they are. Errors: as a launch;
    KernelTimeout beyond `most` instructions of all warps together.
    """
    seen: Counter = Counter()

    def note(step: reference.Step) -> None:
        seen[step.block, step.warp] += 1

    grid, block = _walk(kernel, grid, block, args, shared_bytes, most, meta, on_step=note)
    blocks = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
    warps = -(-math.prod(block) // WARP)
    return tuple(seen[index, warp] for index in blocks for warp in range(warps))


class _Known(Exception):
    """Enough has been seen."""


def who_does_most(kernel, grid, block, args, requests: int, *, shared_bytes: int = 0, **meta) -> str:
    """The block or warp that makes over half of a launch's `requests` to global memory, in words; "" for none.

    Requests tell work from idling, which takes instructions too. One of less than four is nothing unusual, and is not
    told; nor is one of a launch of over twice `MOST` instructions, which takes too long. The other arguments: as at
    the launch, whose arrays stay as they are. Errors: as a launch.
    """
    grid, block, _ = check_place(grid, block, 0)
    blocks, warps = math.prod(grid), math.prod(grid) * -(-math.prod(block) // WARP)
    if warps < FEW:
        return ""
    of_blocks: Counter = Counter()
    of_warps: Counter = Counter()
    done, greatest, most = 0, 0, ""

    def note(access: reference.Access) -> None:
        nonlocal done, greatest, most
        if access.space != "global":
            return
        of_blocks[access.block] += 1
        of_warps[access.block, access.warp] += 1
        if 2 * of_warps[access.block, access.warp] > requests:
            most = f"warp {access.warp} of block {_index(access.block)}"
        elif blocks >= FEW and 2 * of_blocks[access.block] > requests:
            most = f"block {_index(access.block)}"
        mine = of_blocks[access.block] if blocks >= FEW else of_warps[access.block, access.warp]
        done, greatest = done + 1, max(greatest, mine)
        # Half was asked for by others than the greatest, so nobody can ask for more than half.
        if most or 2 * (done - greatest) >= requests:
            raise _Known

    with contextlib.suppress(_Known, KernelTimeout):
        _walk(kernel, grid, block, args, shared_bytes, 2 * MOST, meta, on_access=note)
    return most


def _walk(kernel, grid, block, args, shared_bytes: int, most: int, meta: dict, **observers) -> tuple:
    """Interpret a launch under observation, on memory that is then as before; its grid and block."""
    _, prepared, _ = prepare("balance", kernel, grid, block, args, meta)
    grid, block, _ = check_place(prepared.grid or grid, prepared.block or block, 0)
    run_block(prepared, grid, block, None, shared_bytes, max_steps=most, **observers)
    return grid, block


def _index(block: tuple[int, int, int]) -> str:
    return str(block[0]) if not any(block[1:]) else str(block)
