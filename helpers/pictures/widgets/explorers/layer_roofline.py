"""The layers of a network on the roof of any GPU, for any batch and type of number."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.models.layers import Layers
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.plots.networks import layer_roofline as chart
from helpers.pictures.plots.roofline import UNITS
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, gpus
from helpers.pictures.widgets.explorer import Explorer
from vgpu.hardware.device import current
from vgpu.hardware.gpus import find

BATCHES = tuple(2**power for power in range(13))
ITEMSIZES = {"fp32": 4, "tf32_tensor": 4, "fp16_tensor": 2, "fp8_tensor": 1}
"""Units that convolutions run on, and the bytes of the numbers that they take."""


def layer_roofline(rows, *, gpu: str | None = None, precision: str = "fp32", batch: int = 1) -> Explorer:
    """Layers on a GPU's roof, and the least time that it allows each, for a GPU, a batch and units to choose.

    rows: what `layers(network, images)` found, or a mapping from short names to several. ValueError where no document
    gives the roof of those units; KeyError for a GPU that the table does not have.
    """
    networks = checked.versions(rows, "what `layers(network, images)` found")
    for each in networks.values():
        if not isinstance(each, Layers):
            raise TypeError(f"give what `layers(network, images)` found; this is of type {type(each).__name__}")
    first = next(iter(networks))
    controls = {
        "batch": choice("batch", batch, BATCHES),
        "precision": dropdown("numbers", precision, [(UNITS[unit], unit) for unit in ITEMSIZES]),
        "gpu": gpus(gpu or current().name),
    }
    if isinstance(rows, Mapping):
        controls = {"network": dropdown("network", first, networks), **controls}

    def draw(batch: int, precision: str, gpu: str, network: str = first) -> Picture:
        return chart(networks[network].at(batch, ITEMSIZES[precision]), find(gpu), precision)

    return Explorer("layer_roofline", draw, controls, height=card_height(caption_lines=4))
