"""How large, how far away and how fast the memories of a GPU are, for any GPU of the table."""

from __future__ import annotations

from helpers.pictures.figures import CAPTION_LINE
from helpers.pictures.plots.pyramid import HEIGHT, SOURCE_LINE, memory_pyramid
from helpers.pictures.widgets.controls import choice
from helpers.pictures.widgets.explorer import Explorer
from vgpu.hardware.device import current
from vgpu.hardware.gpus import GPUS, find

MOST_SOURCES = 10
CARDS = 76
"""Pixels of the frames and margins of the two cards, one below the other."""


def pyramid(gpu: str | None = None) -> Explorer:
    """Sizes, latencies and bandwidths from registers to the host on logarithmic scales, each with its source.

    gpu: the row of the table to begin with, by name (default: the GPU chosen by `device`); the slider has them all.
    What no source gives is shown as unknown. KeyError for a GPU that the table does not have.
    """
    first = current().name if gpu is None else find(gpu).name
    height = round(HEIGHT + MOST_SOURCES * SOURCE_LINE + 3 * CAPTION_LINE + CARDS)
    return Explorer(
        "pyramid", lambda gpu: memory_pyramid(find(gpu)), {"gpu": choice("GPU", first, GPUS)}, height=height
    )  # fmt: skip
