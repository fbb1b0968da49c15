"""What the layers of a network make of an image."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from helpers.pictures.figures import Picture, card_height
from helpers.pictures.plots.networks import MOST_IMAGES, image_grid
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import dropdown, slider
from helpers.pictures.widgets.explorer import Explorer


def maps_of(network, image) -> dict[str, np.ndarray]:
    """By a layer's name: its output for one image, (channels, height, width), of each layer that leaves maps."""
    import torch

    found: dict[str, np.ndarray] = {}

    def keep(name: str):
        def note(module, given, result) -> None:
            if getattr(result, "ndim", 0) == 4:
                found[f"{name} {type(module).__name__}"] = result[0].detach().float().cpu().numpy()

        return note

    leaves = [(name, module) for name, module in network.named_modules() if not list(module.children())]
    hooks = [module.register_forward_hook(keep(name)) for name, module in leaves]
    training = network.training
    try:
        network.eval()
        with torch.no_grad():
            network(image[None])
    finally:
        network.train(training)
        for hook in hooks:
            hook.remove()
    if not found:
        raise ValueError("no layer of this network leaves maps, outputs of shape (batch, channels, height, width)")
    return found


def feature_maps(network, images, *, layer: str | None = None) -> Explorer:
    """A list of layers and a slider of images, over the maps that the layer makes of the image, which stands first.

    network: any PyTorch module, or a mapping from short names to several, which take `images[i][None]`; images: a
    tensor (number, channels, height, width). Of more than 63 maps the first 63 are shown. ValueError where no layer
    leaves maps.
    """
    networks = checked.versions(network, "a network")
    if getattr(images, "ndim", 0) != 4 or not len(images):
        raise ValueError("images is a tensor of shape (number, channels, height, width), with at least one image")
    first = next(iter(networks))
    names = list(maps_of(networks[first], images[0]))
    controls = {
        "layer": dropdown("layer", layer or names[0], names),
        "number": slider("image", 0, 0, len(images) - 1),
    }
    if isinstance(network, Mapping):
        controls = {"network": dropdown("network", first, networks), **controls}

    def fit() -> None:
        """Offer the layers of the network that is shown, and stay at the same one where it has it."""
        if "network" in controls:
            control, now = controls["layer"], list(maps_of(networks[controls["network"].value], images[0]))
            if list(control.options) != now:
                kept = control.value if control.value in now else now[0]
                with control.hold_sync():
                    control.options = now
                    control.value = kept

    def draw(layer: str, number: int, network: str = first) -> Picture:
        found = maps_of(networks[network], images[number])
        layer = layer if layer in found else next(iter(found))
        maps = found[layer]
        silent = int((maps.reshape(len(maps), -1).max(axis=1) <= 0).sum())
        finding = (
            f"Layer {layer} makes {len(maps)} maps of {maps.shape[1]} × {maps.shape[2]} of image {number}, which "
            f"stands first; {np.mean(maps == 0):.0%} of their values are zero, and {silent} of the maps hold nothing "
            "above zero."
        )
        return image_grid(maps[: MOST_IMAGES - 1], finding, first=images[number].mean(dim=0).cpu())

    return Explorer("feature_maps", draw, controls, fit=fit, height=card_height(caption_lines=2))
