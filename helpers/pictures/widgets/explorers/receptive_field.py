"""Which pixels an output sees through any stack of convolutions and poolings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.models.windows import Window, outputs
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.plots.convolution import checked_image, receptive_field_map
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, slider
from helpers.pictures.widgets.explorer import Explorer

_EXAMPLE = (
    "[(3, 1), (3, 1), (2, 2)]: kernel, stride, padding and dilation of each layer, of which the last may be left out"
)


def windows_of(given) -> list[Window]:
    """A stack as `Window`s: from those, from tuples of their numbers, or from a network without branches.

    TypeError for anything else, ValueError for none.
    """
    if hasattr(given, "modules"):  # a PyTorch network: its layers in the order in which they were made
        from helpers.models.layers import window_of

        found = [window for module in given.modules() if (window := window_of(module))]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        if wrong := [one for one in given if not isinstance(one, Window | tuple)]:
            raise TypeError(f"a stack is a list such as {_EXAMPLE}; it has {wrong[0]!r}")
        found = [one if isinstance(one, Window) else Window(*one) for one in given]
    else:
        raise TypeError(f"a stack is a list such as {_EXAMPLE}, or a network; this is of type {type(given).__name__}")
    if not found:
        raise ValueError(f"there is no layer in it: give a list such as {_EXAMPLE}")
    return found


def receptive_field(image, stack, *, layers: int | None = None) -> Explorer:
    """Sliders for the number of layers and the output's row and column, over the pixels that this output sees.

    image: a square array. stack: layers as (kernel, stride, padding, dilation), of which the last may be left out, or a
    network whose layers follow one another; or a mapping from short names to several of these. layers: how many of
    them to begin with, all by default. ValueError for a stack that leaves nothing of the image.
    """
    size = len(checked_image(image))
    several = stack if isinstance(stack, Mapping) else {"": stack}
    stacks = {name: windows_of(each) for name, each in checked.versions(several, "a stack of layers").items()}
    for windows in stacks.values():
        outputs(windows, size)
    first = next(iter(stacks))
    deepest = len(stacks[first])
    begin = deepest if layers is None else layers
    middle = outputs(stacks[first][:begin], size) // 2
    controls = {
        "layers": slider("layers", begin, 1, deepest),
        "row": slider("row", middle, 0, max(middle, outputs(stacks[first][:begin], size) - 1)),
        "column": slider("column", middle, 0, max(middle, outputs(stacks[first][:begin], size) - 1)),
    }
    if isinstance(stack, Mapping):
        controls = {"network": choice("network", first, stacks), **controls}

    def fit() -> None:
        """As many layers as this network has, and as many rows and columns as they leave."""
        windows = stacks[controls["network"].value if "network" in controls else first]
        controls["layers"].max = len(windows)
        along = outputs(windows[: controls["layers"].value], size)
        controls["row"].max = controls["column"].max = along - 1

    def draw(layers: int, row: int, column: int, network: str = first) -> Picture:
        return receptive_field_map(image, stacks[network][:layers], row, column, network)

    return Explorer("receptive_field", draw, controls, fit=fit, height=card_height(caption_lines=3))
