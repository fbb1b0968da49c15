"""Explorers of networks: what layers see and make, how gradients flow, and what a generator learns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers.models.windows import Window, outputs
from helpers.pictures import plots
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.plots.networks import MOST_IMAGES, checked_image, im2col_map, image_grid, receptive_field_map
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, offer, slider
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.torch.state_gradients import state_gradients

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from torch import Tensor
    from torch.nn import Module


def maps_of(network: Module, image: Tensor) -> dict[str, np.ndarray]:
    """By a layer's name: its output for one image, (channels, height, width), of each layer that leaves maps."""
    import torch

    found: dict[str, np.ndarray] = {}

    def keep(name: str) -> Callable[[Module, tuple, Any], None]:
        def note(module: Module, given: tuple, result: Any) -> None:
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


def feature_maps(network: Module | Mapping[str, Module], images: Tensor, *, layer: str | None = None) -> Explorer:
    """The feature maps of a chosen layer for a chosen image, which is shown first.

    network: any PyTorch module, or a mapping from short names to several, which take `images[i][None]`; images: a
    tensor (number, channels, height, width). Of more than 63 maps the first 63 are shown. ValueError where no layer
    leaves maps.
    """
    networks = checked.versions(network, "a network")
    if getattr(images, "ndim", 0) != 4 or not len(images):
        raise ValueError("images is a tensor of shape (number, channels, height, width), with at least one image")
    first = next(iter(networks))
    names = list(maps_of(networks[first], images[0]))
    controls = {"layer": dropdown("layer", layer or names[0], names), "number": slider("image", 0, 0, len(images) - 1)}
    if isinstance(network, Mapping):
        controls = {"network": dropdown("network", first, networks), **controls}

    def fit() -> None:
        """Offer the layers of the network that is shown, and stay at the same one where it has it."""
        if "network" in controls:
            offer(controls["layer"], list(maps_of(networks[controls["network"].value], images[0])))

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


_EXAMPLE = (
    "[(3, 1), (3, 1), (2, 2)]: kernel, stride, padding and dilation of each layer, of which the last may be left out"
)


def windows_of(given: object) -> list[Window]:
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


def receptive_field(image: ArrayLike, stack: object, *, layers: int | None = None) -> Explorer:
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


TILES = (1, 2, 4, 8, 16, 32)
MOST_KERNEL = 7


def im2col(
    image: ArrayLike, *, kernel: int = 3, stride: int = 1, padding: int = 0, dilation: int = 1, tile: int = 8
) -> Explorer:
    """Sliders for kernel, stride, padding, dilation and a tile of outputs, over an image and its im2col matrix.

    image: a square array, such as one of `load_digits().images`. The rest is what to begin with. ValueError for an
    image that is no square, and for a window that does not fit it.
    """
    size = len(checked_image(image))
    Window(kernel, stride, padding, dilation).outputs(size)

    def draw(kernel: int, stride: int, padding: int, dilation: int, tile: int, number: int) -> Picture:
        return im2col_map(image, Window(kernel, stride, padding, dilation), tile, number)

    controls = {
        "kernel": slider("kernel", kernel, 1, min(MOST_KERNEL, size)),
        "stride": slider("stride", stride, 1, 4),
        "padding": slider("padding", padding, 0, 3),
        "dilation": slider("dilation", dilation, 1, 3),
        "tile": choice("outputs a tile", tile, TILES),
        "number": slider("tile number", 0, 0, size * size - 1),
    }

    def fit() -> None:
        """As many tiles as the outputs fill, where the window fits at all."""
        now = {name: control.value for name, control in controls.items()}
        window = Window(now["kernel"], now["stride"], now["padding"], now["dilation"])
        if window.span <= size + 2 * window.padding:
            columns = window.outputs(size) ** 2
            controls["number"].max = (columns + now["tile"] - 1) // now["tile"] - 1

    return Explorer("im2col", draw, controls, fit=fit, height=card_height(caption_lines=3))


STEPS_BACK = 80
Cell = tuple[Callable[[float], object], str, Sequence[float]]
"""What makes a cell for the value of its setting, what the setting is called, and the values to choose from."""


def gradient_flow(
    cells: Mapping[str, Cell],
    *,
    steps: int = STEPS_BACK,
    start: Mapping[str, float] | None = None,
) -> Explorer:
    """How gradients of recurrent cells shrink or grow, with a slider for one setting of each cell.

    cells: by name a function that makes the cell for a value, what that value is called, and the values to choose
    from: `{"RNN": (rnn, "spectral radius", (0.5, 0.9, 1.0))}`. A cell is what PyTorch calls one: `cell(x, state)` gives
    the next state, `state` is None at first, `cell.input_size` says how wide x is. `steps`: how many it takes, at
    least 2. `start`: the value to begin with, by name, else the middle one.
    """
    several: dict[str, Cell] = checked.versions(cells, "cells by their names")
    if steps < 2:
        raise ValueError(f"a gradient goes back over at least 2 steps, not {steps}")
    controls, begin = {}, dict(start or {})
    for name, row in several.items():
        if not isinstance(row, tuple) or len(row) != 3:
            raise TypeError(f"{name!r} wants three things: what makes the cell, a word, and a list of values")
        checked.called(f"the cell of {name!r}", row[0])
        values = checked.options(row[1], row[2])
        controls[name] = choice(f"{name}: {row[1]}", begin.get(name, values[len(values) // 2]), values)

    @cache
    def norms(name: str, value: float) -> list[float]:
        return state_gradients(several[name][0], value, steps)

    def draw(**chosen: float) -> Picture:
        curves = {f"{name}, {several[name][1]} {value:g}": norms(name, value) for name, value in chosen.items()}
        behind = {
            f"{name}, {several[name][1]} {value:g}": [norms(name, other) for other in several[name][2]]
            for name, value in chosen.items()
        }
        return plots.gradient_curves(curves, others=behind)

    return Explorer("gradient_flow", draw, controls)


STEPS_OF_A_WALK = 20


def latent_walk(
    generator: Callable,
    latents: np.ndarray | Tensor,
    *,
    judge: Callable | None = None,
    names: Sequence[str] = (),
    limits: tuple[float, float] = (-1.0, 1.0),
    first: int = 0,
    last: int = 1,
    step: int = STEPS_OF_A_WALK // 2,
) -> Explorer:
    """The image between two latents, with a slider along the line between them.

    `generator`: a PyTorch module, which is asked in `eval` mode and left in its own, or any function from a batch of
    latents to a batch of grey images. `latents`: two or more, the first axis is theirs. `judge`: a function from a
    batch of images to one row of scores for each; its favourite and that one's share after softmax are told, under
    `names` where there are some. `limits`: the values of a pixel that are black and white. `first`, `last`, `step`: the
    walk to begin with, and where on it.
    """
    checked.called("generator", generator)
    if judge is not None:
        checked.called("judge", judge)
    if not hasattr(latents, "shape") or len(latents) < 2:
        raise ValueError("latents are a batch of two or more, such as torch.randn(6, 16): a walk has two ends")

    @lru_cache
    def walk(first: int, last: int) -> tuple[Tensor, Tensor | None]:
        import torch

        begin, end = torch.as_tensor(latents[first]), torch.as_tensor(latents[last])
        way = torch.stack([begin + (end - begin) * k / STEPS_OF_A_WALK for k in range(STEPS_OF_A_WALK + 1)])
        training = generator if isinstance(generator, torch.nn.Module) and generator.training else None
        with torch.no_grad():
            if training is not None:
                training.eval()
            try:
                images = generator(way)
            finally:
                if training is not None:
                    training.train()
            shares = torch.softmax(judge(images), 1) if judge is not None else None
        return images, shares

    def draw(first: int, last: int, step: int) -> Picture:
        images, shares = walk(first, last)
        verdict, verdicts = "", []
        if shares is not None:
            verdicts = [names[best] if names else str(best) for best in shares.argmax(1).tolist()]
            verdict = f"judged as {verdicts[step]}, at {float(shares[step].max()):.0%}"
        return plots.walk_frame(images, step, limits=limits, verdict=verdict, verdicts=verdicts)

    every = list(range(len(latents)))
    controls = {
        "first": choice("from latent", first, every),
        "last": choice("to latent", last, every),
        "step": slider("step", step, 0, STEPS_OF_A_WALK),
    }
    return Explorer("latent_walk", draw, controls, height=card_height(caption_lines=3))


NEEDED = ("step", "samples", "score")
Moment = Mapping[str, Any]


def samples_over_training(
    runs: Sequence[Moment] | Mapping[str, Sequence[Moment]], *, score_name: str = "score",
    limits: tuple[float, float] = (-1.0, 1.0),
) -> Explorer:  # fmt: skip
    """A slider over the moments that a training kept: its samples, the losses and the score there.

    `runs`: the moments of one run, in order, or a mapping from short names to several. A moment is a mapping with
    "step", a whole number; "samples", grey images made from the same latents each time; "score", a number; all else in
    it is a loss and has a curve. `limits`: the values of a pixel that are black and white.
    """
    several = dict(runs) if isinstance(runs, Mapping) else {"": runs}
    kept = {name: moments(name, given) for name, given in several.items()}
    if not kept:
        raise ValueError("no runs: give the moments of one, or a mapping from short names to several")
    last = max(len(each) for each in kept.values()) - 1
    control = slider("moment", last, 0, last)

    def draw(moment: int, run: str = "") -> Picture:
        chosen = kept[run or next(iter(kept))]
        at = min(moment, len(chosen) - 1)
        losses = [name for name in chosen[0] if name not in NEEDED]
        return plots.training_moment(
            chosen[at]["samples"],
            at,
            [each["step"] for each in chosen],
            {name: [float(each[name]) for each in chosen] for name in losses},
            [float(each["score"]) for each in chosen],
            limits=limits,
            score_name=score_name,
        )

    controls = {"moment": control}
    if len(kept) > 1:
        controls = {"run": dropdown("run", next(iter(kept)), list(kept)), **controls}
    return Explorer("samples_over_training", draw, controls, height=card_height(caption_lines=2))


def moments(name: str, given: object) -> Sequence[Moment]:
    """The moments of a run. TypeError or ValueError for what is none."""
    found = checked.options(f"run {name}".strip(), given)
    for moment in found:
        if not isinstance(moment, Mapping) or any(part not in moment for part in NEEDED):
            raise ValueError(f"a moment is a mapping with {', '.join(NEEDED)} and losses; this is {moment!r:.80}")
        if set(moment) != set(found[0]):
            raise ValueError("all moments of a run have the same losses")
    return found
