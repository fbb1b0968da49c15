"""How a launch distributes its work over blocks and warps: `Shares` of a dry run of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vgpu.launch.configuration import check_block_index
from vgpu.launch.launch import dry_run
from vgpu.tools.prepare import Dimensions, Grid, prepare

if TYPE_CHECKING:
    from vgpu.launch.shares import Shares


def shares(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence, *, shared_bytes: int = 0, **meta: Any
) -> Shares:
    """What each warp of a launch does.

    kernel, grid, block, args, shared_bytes, meta: as at the launch, whose arrays stay as they are. Errors: as a launch.
    """
    _, prepared, _ = prepare("balance", kernel, grid, block, args, meta)
    grid, block, _ = check_block_index(prepared.grid or grid, prepared.block or block, 0)
    found = dry_run(prepared, grid, block, shared_bytes).by_warp
    assert found is not None, "counted launches have it"
    return found


def who_does_most(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence, *, shared_bytes: int = 0, **meta: Any
) -> str:
    """The block or warp that makes over half of a launch's requests to global memory, in words; "" for none.

    Arguments and errors: those of `shares`, whose `who_does_most` this is.
    """
    return shares(kernel, grid, block, args, shared_bytes=shared_bytes, **meta).who_does_most()
