"""Which lanes of a warp take part in which instruction, as the warp and the kernel's data change."""

from __future__ import annotations

import math
from collections.abc import Callable

from helpers.pictures.figures import CAPTION_LINE, Drawing
from helpers.pictures.plots.issue import HEIGHT, issue_strip
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import slider, suited
from helpers.pictures.widgets.explorer import Explorer
from vgpu.tools.steps.stepper import RecordingTooLong, record

WARP = 32
MOST_STEPS = 6_000


def lanes(
    kernel, grid, block, args: tuple | Callable[..., tuple], *, warp: int = 0, block_index=0, shared_bytes: int = 0,
    max_steps: int = MOST_STEPS, **controls,
) -> Explorer:  # fmt: skip
    """Lane by instruction, one warp of one block of a launch, with a meter of issued against useful lane slots.

    kernel, grid, block and args as at a launch, in any language; nothing that the kernel writes stays. With further
    controls `args` is a function of them that gives the arguments: `args=lambda order: (data[order], out)` with
    `order=["as it comes", "sorted"]`, where (low, high) makes a slider, a list a menu, True or False a box to tick.
    The warp's own slider is there where the block has several.
    """
    shape = tuple(block) if isinstance(block, tuple | list) else (block,)
    warps = max(1, math.ceil(math.prod(shape) / WARP)) if block is not None else 1
    if not 0 <= warp < warps:
        raise ValueError(f"warp is from 0 to {warps - 1} in a block of {math.prod(shape)} threads, not {warp}")
    if controls:
        checked.called("args", args)
    recordings: dict[tuple, object] = {}

    def draw(warp: int = 0, **given) -> Drawing:
        key = tuple(given.items())

        def recorded(**which):
            arguments = args(**given) if callable(args) else args
            return record(
                kernel, grid, block, arguments, block_index, shared_bytes=shared_bytes, max_steps=max_steps, **which
            )

        if key not in recordings:
            try:
                recordings[key] = recorded()
            except RecordingTooLong:  # a large block: its warps one by one, each of which may take as many steps
                recordings[key] = None
        if recordings[key] is None and (*key, warp) not in recordings:
            recordings[*key, warp] = recorded(warp=warp)
        said = ", ".join(f"{name} {value}" for name, value in given.items())
        return issue_strip(recordings[key] or recordings[*key, warp], warp, prefix=f"{said}: " if said else "")

    made = {name: suited(name, given) for name, given in controls.items()}
    if warps > 1:
        made["warp"] = slider("warp", warp, 0, warps - 1)
    return Explorer("lanes", draw, made, height=round(HEIGHT + 30 + 2 * CAPTION_LINE))
