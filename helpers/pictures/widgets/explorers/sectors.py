"""The sectors that one warp moves, as stride and offset change."""

from __future__ import annotations

import numpy as np

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import slider
from helpers.pictures.widgets.explorer import Explorer

WARP = 32
OPS = ("load", "store", "atomic")
MOST_NAMED = 6


def request(
    kernel,
    arguments,
    *,
    op: str = "load",
    line: int | None = None,
    space: str = "global",
    grid=1,
    block=WARP,
    **options,
):
    """The first request of warp 0 of block 0 in `space` that is a `op` (and stands on `line`, when given).

    Runs that block of `kernel` with `arguments`; `options` go to `trace`. Raises LookupError when the warp makes no
    such request.
    """
    from vgpu.tools.steps.trace import trace

    wanted = f"{space} {op}"
    accesses = trace(kernel, grid, block, arguments, warp=0, **options).accesses
    for access in accesses:
        if access.space == space and access.op == op and line in (None, access.line):
            return access
    made = sorted({(each.line or 0, each.space, each.op) for each in accesses})
    there = ", ".join(f"{place} {what} on line {at}" for at, place, what in made[:MOST_NAMED])
    there += f", … ({len(made)} in all)" if len(made) > MOST_NAMED else ""
    raise LookupError(
        f"the warp makes no {wanted}{f' on line {line}' if line else ''}; "
        f"it makes {there or 'no request on memory at all'}"
    )


def sectors(
    kernel,
    *,
    stride: tuple[int, int] = (1, 32),
    offset: tuple[int, int] = (0, 31),
    op: str = "load",
    dtype=np.float32,
) -> Explorer:
    """Sliders `stride` and `offset` over the sectors of one warp of `kernel(source, target, stride, offset)`.

    The kernel, in either language, is run again on the virtual GPU at every move; `source` is long enough for
    the last lane at the largest stride and offset. `op`: which of the warp's requests is drawn, "load" or
    "store".
    """
    from vgpu.standins import cupy as cp

    checked.among("op", op, OPS)
    stride, offset = checked.bounds("stride", stride), checked.bounds("offset", offset)
    if min(stride[0], offset[0]) < 0:
        raise ValueError("stride and offset start at 0 or above: `source` has no element before its first")
    size = (WARP - 1) * stride[1] + offset[1] + 1
    source, target = cp.zeros(size, dtype), cp.zeros(size, dtype)

    def draw(stride: int, offset: int) -> Picture:
        access = request(kernel, (source, target, np.int32(stride), np.int32(offset)), op=op)
        return plots.sector_map(access, prefix=f"stride {stride}, offset {offset}: ")

    return Explorer(
        "sectors",
        draw,
        {"stride": slider("stride", stride[0], *stride), "offset": slider("offset", offset[0], *offset)},
    )
