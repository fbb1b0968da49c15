"""What each rank keeps of a model in training, as parameters and ranks change."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown
from helpers.pictures.widgets.explorer import Explorer
from vgpu.hardware.gpus import GPUS

PARAMETERS = (125e6, 1.3e9, 7e9, 13e9, 70e9, 175e9)
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 512, 1024)


def rank_memory(
    parameters: Sequence[float] = PARAMETERS, *, ranks: Sequence[int] = RANKS, gpu: str = "H100",
    start: tuple[float, int] | None = None, mixed: bool = True,
) -> Explorer:  # fmt: skip
    """Sliders for the size of the model and the number of ranks, over a bar for each stage of sharding.

    parameters: numbers to choose from; ranks: numbers to choose from; gpu: whose memory is the line to begin with;
    start: (parameters, ranks) to begin with, each one of those; mixed: 16 bytes a parameter in mixed precision, which
    are as many in single precision, but others.
    """
    sizes = checked.options("parameters", parameters)
    counts = checked.options("ranks", ranks)
    size, count = start or (sizes[len(sizes) // 2], counts[len(counts) // 2])
    named = [(f"{each / 1e9:.3g} billion", each) for each in sizes]
    controls = {
        "parameters": choice("parameters", checked.among("parameters", size, named), named),
        "ranks": choice("ranks", count, counts),
        "gpu": dropdown("GPU", checked.gpu_name(gpu), list(GPUS)),
    }

    def draw(parameters: float, ranks: int, gpu: str) -> Picture:
        return plots.rank_memory_bars(parameters, ranks, capacity=GPUS[gpu].memory_bytes, gpu=gpu, mixed=mixed)

    return Explorer("rank_memory", draw, controls)
