"""How a grid fills all SMs, wave after wave, as the number of blocks changes."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import gpus, slider
from helpers.pictures.widgets.explorer import Explorer
from vgpu.hardware.gpus import DEFAULT, GPUS
from vgpu.hardware.occupancy import occupancy
from vgpu.tools.compiled import compiled


def waves(
    kernel,
    arguments: Sequence = (),
    *,
    block: int = 256,
    blocks: tuple[int, int] = (1, 2000),
    start: int | None = None,
    gpu: str = DEFAULT,
    shared_bytes: int = 0,
) -> Explorer:
    """Blocks of `kernel` over the SMs of a GPU in waves; a slider changes their number.

    `kernel`, in any language, is compiled for `arguments` and not run. `block`: threads a block; `blocks`: the range of
    the slider, which begins at `start`; `shared_bytes`: dynamic shared memory a block. Modelled: equal blocks.
    """
    made = compiled(kernel, 1, block, checked.arguments(arguments))
    blocks = checked.bounds("blocks", blocks)
    if blocks[0] < 1:
        raise ValueError(f"a grid has at least one block: blocks goes from 1 up, not from {blocks[0]}")

    def draw(gpu: str, blocks: int) -> Picture:
        needs = made.on(GPUS[gpu])
        held = occupancy(needs.registers, needs.shared_bytes + shared_bytes, block, GPUS[gpu])
        return plots.waves(blocks, held, GPUS[gpu])

    first = blocks[0] if start is None else start
    return Explorer("waves", draw, {"gpu": gpus(gpu), "blocks": slider("blocks", first, *blocks)})
