"""Tiles going through the stages of a block: what stages hide, and what they cost in shared memory and in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

from helpers.hardware.device import current
from helpers.hardware.gpus import find
from helpers.hardware.occupancy import occupancy
from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, gpus, slider, toggle
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.pipeline import pipeline as modelled
from helpers.vgpu.base.words import plural

KIB = 1024
CLOCKS = (0, 50, 100, 150, 200, 300, 400, 500, 600, 800, 1000, 1200)
MOST_STAGES = 8


def pipeline(
    *,
    stage_bytes: int,
    threads: int,
    registers: int,
    fixed_bytes: int = 0,
    stages: int = 2,
    latency: int = 600,
    transfer: int = 100,
    compute: int = 200,
    tiles: int = 10,
    clocks: Sequence[int] = CLOCKS,
) -> Explorer:
    """Sliders over the stages, the clocks of a tile's latency, transfer and computation, one block or all that fit.

    The kernel comes in by what it costs: `stage_bytes` of shared memory for each stage and `fixed_bytes` besides,
    `threads` a block and `registers` a thread, as `profile` tells them. `stages`, `latency`, `transfer` and `compute`
    are where the sliders start, `clocks` the values of the last three. Times are modelled by the rules of
    `helpers.results.pipeline`, blocks by `occupancy`. ValueError for what no block can have.
    """
    for name, value in (("stage_bytes", stage_bytes), ("threads", threads), ("registers", registers), ("tiles", tiles)):
        if not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name} is a whole number, 1 or more, not {value!r}")
    values = sorted({int(each) for each in (*checked.options("clocks", clocks), latency, transfer, compute)})
    if values[0] < 0 or compute <= 0:
        raise ValueError("clocks are 0 or more, and those of compute more than 0")
    computed = [each for each in values if each > 0]

    def draw(stages: int, latency: int, transfer: int, compute: int, every: bool, gpu: str) -> Picture:
        row = find(gpu)
        shared = fixed_bytes + stages * stage_bytes
        fits = occupancy(registers, shared, threads, row)
        size = f"{stages} × {stage_bytes / KIB:g} KiB of shared memory a block"
        if not fits.blocks_per_sm:
            raise ValueError(f"{size}: not one block fits on {row.name}. Take fewer stages.")
        price = (
            f"{size}: {plural(fits.blocks_per_sm, 'block')} on an SM of {row.name}, "
            f"{fits.fraction:.0%} occupancy, limited by {fits.limiter}."
        )
        found = modelled(stages, latency, transfer, compute, tiles=tiles, blocks=fits.blocks_per_sm if every else 1)
        return plots.pipeline_gantt(found, price=price)

    controls = {
        "stages": slider("stages", stages, 1, MOST_STAGES),
        "latency": choice("latency", latency, values),
        "transfer": choice("transfer", transfer, values),
        "compute": choice("compute", compute, computed),
        "every": toggle("all blocks that fit"),
        "gpu": gpus(current().name),
    }
    return Explorer("pipeline", draw, controls)
