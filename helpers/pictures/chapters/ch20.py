"""Pictures of chapter 20: a recurrent network unrolled over its steps, attention over words, and a river."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import FancyBboxPatch, Rectangle

from helpers.data.rivers import efficiency
from helpers.pictures.figures import CYCLE, DASHES, PALETTE, Picture, new, styled, subplots
from helpers.pictures.plots.common import shade
from vgpu.base.words import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike
    from torch import Tensor

    from helpers.data.rivers import Catchment


STATES = ("h", "c")
MOST_LAYERS, MOST_STEPS = 8, 24
_CENTRES = (128, 268, 408, 594)
"""Where cells stand, of 700 across; between the last two there is room for those left out."""
_CELL, _DATA = (76, 96), (92, 38)
_X, _STEP, _OUT = 32, 168, 300
_Place = tuple[float, float]


def _parts(
    x: Tensor, outputs: Tensor, state: Tensor | tuple[Tensor, ...]
) -> tuple[int, tuple[int, int], tuple[int, int], list[str]]:
    """Steps, the shapes of an input and of an output of one step, and the names of what the state consists of."""
    parts = tuple(state) if isinstance(state, (tuple, list)) else (state,)
    shapes = [tuple(each.shape) for each in (x, outputs, *parts)]
    if any(len(shape) != 3 for shape in shapes) or shapes[0][:2] != shapes[1][:2] or len(parts) > len(STATES):
        raise ValueError(
            "give the sequences in the shape (steps, batch, inputs), and what the network made of them, as in "
            f"unrolled(x, *rnn(x)); these have the shapes {', '.join(map(str, shapes))}"
        )
    if any(shape[0] != 1 for shape in shapes[2:]):
        raise ValueError("one layer that reads in one direction can be unrolled; cell_rounds() draws several layers")
    return shapes[0][0], shapes[0][1:], shapes[1][1:], list(STATES[: len(parts)])


@styled
def unrolled(x: Tensor, outputs: Tensor, state: Tensor | tuple[Tensor, ...], *, backward: bool = False) -> Picture:
    """One cell of a recurrent layer at each of its steps, with what flows between them and the shape of each piece.

    As called: `unrolled(x, *rnn(x))`, with `x` of shape (steps, batch, inputs), all outputs, and the last state, which
    is `h` or the pair of `h` and `c`. `backward`: also the gradients, which come back along the same arrows. ValueError
    for other shapes and for several layers.
    """
    steps, x_shape, out_shape, names = _parts(x, outputs, state)
    figure, axes = new(place=(0, 0, 1, 1))
    axes.set(xlim=(0, 700), ylim=(0, 350))
    axes.axis("off")
    shown = [*range(min(3, steps)), *([steps - 1] if steps > 3 else [])]
    centres = list(_CENTRES[: len(shown)])
    if steps == 4:
        centres[-1] = 548
    axes.add_patch(_box(centres[0] - 52, _STEP - 60, centres[-1] - centres[0] + 104, 120, PALETTE["mist"], "none"))
    by = lambda shape: " × ".join(map(str, shape))
    for step, centre in zip(shown, centres, strict=True):
        for height, size, colour, words, small in (
            (_X, _DATA, shade(PALETTE["sky"], 0.85), f"x[{step}]", by(x_shape)),
            (_STEP, _CELL, shade(PALETTE["yellow"], 0.85), "cell", f"step {step + 1}"),
            (_OUT, _DATA, shade(PALETTE["green"], 0.85), f"outputs[{step}]", by(out_shape)),
        ):
            axes.add_patch(_box(centre - size[0] / 2, height - size[1] / 2, *size, colour, PALETTE["ink"]))
            axes.text(centre, height + 8, words, ha="center", va="center", fontsize=8.5, fontweight="bold")
            axes.text(centre, height - 9, small, ha="center", va="center", fontsize=8)
        aside = 9 * backward
        _arrow(axes, (centre - aside, _X + 19), (centre - aside, _STEP - _CELL[1] / 2))
        _arrow(axes, (centre - aside, _STEP + _CELL[1] / 2), (centre - aside, _OUT - 19))
        if backward:
            _arrow(axes, (centre + aside, _OUT - 19), (centre + aside, _STEP + _CELL[1] / 2), back=True)
            _arrow(axes, (centre + aside, _STEP - _CELL[1] / 2), (centre + aside, _X + 19), back=True)
    _states(axes, names, by(out_shape), centres, steps, backward)
    if steps > 4:
        axes.text((centres[-2] + centres[-1]) / 2, _OUT, "…", ha="center", va="center", fontsize=16)
        axes.text((centres[-2] + centres[-1]) / 2, _X, "…", ha="center", va="center", fontsize=16)
    keys = "blue: forwards · " + ("red, dashed: gradients, backwards · " if backward else "")
    axes.text(8, 338, keys + "grey: one set of weights for all steps", fontsize=8.5, va="center")
    numbers = len(names) * out_shape[0] * out_shape[1]
    handed = f"{' and '.join(names)}, {by(out_shape)}{' each' * (len(names) > 1)}: {numbers:,} numbers"
    said = f"Each of {plural(steps, 'step')} passes on {handed}, whatever its position; all steps share their weights."
    if backward:
        said += (
            f" In the backward pass a cell gets a gradient from above and {len(names)} from the next step, "
            f"and each of {plural(steps, 'step')} adds a part to the gradient of the weights."
        )
    return Picture(figure, said)


def _states(axes: Axes, names: Sequence[str], shape: str, centres: Sequence[float], steps: int, backward: bool) -> None:
    """The arrows from cell to cell: one for each part of the state, and one back for its gradient."""
    lanes = len(names) * (2 if backward else 1)
    heights = np.linspace(_STEP + 34, _STEP - 38, lanes) if lanes > 1 else [_STEP]
    half = _CELL[0] / 2
    ends = [(left + half, right - half) for left, right in itertools.pairwise(centres)]
    for lane, height in enumerate(heights):
        back, name = bool(backward and lane % 2), names[lane // (2 if backward else 1)]
        left_out = steps > 4
        _text(axes, centres[0] - half - 44, height, f"{name} = 0" if not back else f"d{name}", back)
        _arrow(axes, *_turned((centres[0] - half - 22, height), (centres[0] - half, height), back), back=back)
        for number, (start, end) in enumerate(ends):
            if left_out and number == len(ends) - 1:
                middle = (start + end) / 2
                _arrow(axes, *_turned((start, height), (middle - 12, height), back), back=back)
                _arrow(axes, *_turned((middle + 12, height), (end, height), back), back=back)
                axes.text(middle, height, "…", ha="center", va="center", fontsize=11)
                continue
            _arrow(axes, *_turned((start, height), (end, height), back), back=back)
            _text(axes, (start + end) / 2, height + 7, f"d{name}" if back else name, back)
        _arrow(axes, *_turned((centres[-1] + half, height), (centres[-1] + half + 24, height), back), back=back)
        _text(axes, centres[-1] + half + 44, height, f"d{name}" if back else name, back)


def _turned(start: _Place, end: _Place, back: bool) -> tuple[_Place, _Place]:
    return (end, start) if back else (start, end)


def _text(axes: Axes, x: float, y: float, words: str, back: bool) -> None:
    colour = PALETTE["vermilion" if back else "blue"]
    axes.text(x, y, words, ha="center", va="center", fontsize=8.5, color=colour, fontstyle="italic")


def _box(x: float, y: float, width: float, height: float, fill: str | tuple[float, ...], edge: str) -> FancyBboxPatch:
    return FancyBboxPatch((x + 3, y + 3), width - 6, height - 6, boxstyle="round,pad=3", fc=fill, ec=edge, lw=0.8)


def _arrow(axes: Axes, start: _Place, end: _Place, *, back: bool = False) -> None:
    look = {"color": PALETTE["vermilion"], "ls": (0, (4, 2))} if back else {"color": PALETTE["blue"]}
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "lw": 1.4, "shrinkA": 0, "shrinkB": 1, **look})


@styled
def cell_rounds(rounds: ArrayLike) -> Picture:
    """The cells of a recurrent network of several layers over its steps, each with the round in which it can run.

    `rounds`: an array of shape (layers, steps) of whole numbers from 1, layer 0 first. A cell waits for the one before
    it in time and for the one below it, so neither may have the same round or a later one: ValueError where one has,
    and for more than 8 layers or 24 steps. The round with the most cells is framed.
    """
    rounds = np.asarray(rounds)
    if rounds.ndim != 2 or not (1 <= rounds.shape[0] <= MOST_LAYERS and 1 <= rounds.shape[1] <= MOST_STEPS):
        raise ValueError(
            f"give the round of each cell as an array (layers, steps), of at most {MOST_LAYERS} × {MOST_STEPS}; "
            f"this has the shape {rounds.shape}"
        )
    if (np.diff(rounds, axis=0) < 1).any() or (np.diff(rounds, axis=1) < 1).any():
        raise ValueError("a cell has to wait: its round is later than that of the cell below it and of the step before")
    layers, steps = rounds.shape
    figure, axes = new(place=(0.1, 0.14, 0.88, 0.74))
    numbers, counts = np.unique(rounds, return_counts=True)
    widest = int(numbers[counts == counts.max()][len(numbers[counts == counts.max()]) // 2])
    for layer in range(layers):
        for step in range(steps):
            number = int(rounds[layer, step])
            fill = shade(CYCLE[number], 0.8)
            width, weight = (2.2, "bold") if number == widest else (0.6, "normal")
            cell = Rectangle((step - 0.34, layer - 0.3), 0.68, 0.6, fc=fill, zorder=2, ec=PALETTE["ink"], lw=width)
            axes.add_patch(cell)
            axes.text(step, layer, str(number), ha="center", va="center", fontsize=9, fontweight=weight, zorder=3)
    grey = PALETTE["grey"]
    axes.hlines(range(layers), 0, steps - 1, color=grey, lw=0.9, zorder=1)
    axes.vlines(range(steps), 0, layers - 1, color=grey, lw=0.9, zorder=1)
    across, up = np.meshgrid(range(1, steps), range(layers)), np.meshgrid(range(steps), range(1, layers))
    axes.plot(across[0].ravel() - 0.39, across[1].ravel(), marker=">", ls="", ms=4, color=grey, zorder=1)
    axes.plot(up[0].ravel(), up[1].ravel() - 0.37, marker="^", ls="", ms=4, color=grey, zorder=1)
    axes.set(xlim=(-0.6, steps - 0.4), ylim=(-0.6, layers - 0.4))
    axes.set_xticks(range(steps), [str(step + 1) for step in range(steps)])
    axes.set_yticks(range(layers), [f"layer {layer + 1}" for layer in range(layers)])
    axes.set_xlabel("step")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.text(
        0.02, 0.93, "number: round in which the cell can run · arrow: to the cell that waits · framed: a full round",
        fontsize=8.5,
    )  # fmt: skip
    return Picture(
        figure,
        f"{plural(layers, 'layer')} × {plural(steps, 'step')}: {plural(rounds.size, 'cell')} in "
        f"{plural(len(numbers), 'round')}, at most {counts.max()} of them at the same time.",
    )


MOST_WORDS = 24


@styled
def alignment(weights: ArrayLike, words: Sequence[str], digits: Sequence[str]) -> Picture:
    """Attention weights as a map: a row for each symbol that was written, a column for each word that was read.

    weights: (digits, words), each row adding up to 1. ValueError for another shape, and for more than 24 words.
    """
    weights = np.asarray(weights, float)
    if weights.shape != (len(digits), len(words)) or len(words) > MOST_WORDS:
        raise ValueError(
            f"give weights of shape (digits, words) for at most {MOST_WORDS} words; {len(digits)} digits and "
            f"{len(words)} words don't fit {weights.shape}"
        )
    figure, axes = new(left=0.08, right=0.98, top=0.72, bottom=0.04)
    axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for row, values in enumerate(weights):
        best = int(values.argmax())
        ink = "white" if values[best] > 0.6 else PALETTE["ink"]
        axes.text(best, row, f"{values[best]:.0%}", ha="center", va="center", fontsize=8, color=ink)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(words)), words, rotation=45, ha="left", fontsize=9)
    axes.set_yticks(range(len(digits)), digits, fontsize=9)
    axes.set_ylabel("written")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    seen = ", ".join(
        f"{digit} at {words[int(row.argmax())]} ({row.max():.0%})" for digit, row in zip(digits, weights, strict=True)
    )
    return Picture(figure, f"The word that each symbol attends to most: {seen}.")


def _months(axes: Axes, days: int) -> None:
    axes.set(xlim=(0, days))
    axes.set_xticks(np.arange(0, days + 1, 91.25), ["Jan", "Apr", "Jul", "Oct"] * (days // 365) + ["Jan"])


@styled
def river_year(days: Catchment, *, first: int = 0) -> Picture:
    """A year of a catchment: rain and temperature, which models see, the flow they simulate, and the hidden stores."""
    figure, axes = subplots(4, 1, left=0.09, right=0.98, top=0.95, bottom=0.08, hspace=0.42)
    year = slice(first, first + 365)
    rows = (
        ("rain or snow (mm)", days.rain, "sky"),
        ("temperature (°C)", days.temperature, "vermilion"),
        ("flow of the river (mm)", days.flow, "blue"),
        ("snow on the ground (grey) and water in the soil (green), in mm: hidden from models", days.snow, "grey"),
    )
    for row, (title, series, colour) in zip(axes[:, 0], rows, strict=True):
        if series is days.rain:
            row.bar(np.arange(365), series[year], width=1.0, color=PALETTE[colour])
        else:
            row.plot(series[year], color=PALETTE[colour], lw=1.4)
        row.set_title(title, fontsize=8.5, fontweight="normal", pad=2)
        row.tick_params(labelsize=8)
        _months(row, 365)
        if row is not axes[-1, 0]:
            row.set_xticklabels([])
    axes[1, 0].axhline(0, color=PALETTE["grey"], lw=0.6)
    axes[3, 0].plot(days.soil[year], color=PALETTE["green"], lw=1.4, ls="--")
    flow, rain = days.flow[year], days.rain[year]
    spring = slice(60, 151)
    return Picture(
        figure,
        f"March to May bring {rain[spring].sum() / rain.sum():.0%} of the year's rain and snow, and "
        f"{flow[spring].sum() / flow.sum():.0%} of its flow; {days.snow[year].max():.0f} mm of snow is the maximum.",
    )


@styled
def river_models(measured: ArrayLike, models: Mapping[str, ArrayLike], *, first: int = 0, days: int = 365) -> Picture:
    """The flow of some days as measured, and as models simulate it from the weather."""
    measured = np.asarray(measured, float)
    simulated = {name: np.asarray(values, float) for name, values in models.items()}
    figure, axes = new(left=0.09, right=0.98, top=0.86, bottom=0.12)
    shown = slice(first, first + days)
    axes.fill_between(np.arange(days), measured[shown], color=PALETTE["mist"], label="measured", lw=0)
    axes.plot(measured[shown], color=PALETTE["grey"], lw=0.8)
    for number, (name, values) in enumerate(simulated.items()):
        axes.plot(values[shown], color=CYCLE[number], ls=DASHES[number], lw=1.6, label=name)
    _months(axes, days)
    axes.set(ylabel="flow (mm a day)", ylim=(0, None))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(simulated) + 1, fontsize=9, borderaxespad=0)
    told = ", ".join(f"{name} {efficiency(values, measured):.2f}" for name, values in simulated.items())
    return Picture(figure, f"Efficiency over all {len(measured) // 365} years: {told}; shown are {days} days.")


@styled
def probed_stores(truth: Mapping[str, ArrayLike], read: Mapping[str, ArrayLike], *, days: int = 730) -> Picture:
    """What stores of a catchment hold, and what a probe reads of them from a network's state, a panel each."""
    figure, axes = subplots(len(truth), 1, left=0.09, right=0.98, top=0.92, bottom=0.08, hspace=0.38)
    told = []
    for row, (name, values) in zip(axes[:, 0], truth.items(), strict=True):
        values, found = np.asarray(values, float), np.asarray(read[name], float)
        row.fill_between(np.arange(days), values[:days], color=PALETTE["mist"], lw=0, label=f"{name}, true")
        row.plot(values[:days], color=PALETTE["grey"], lw=0.8)
        row.plot(found[:days], color=PALETTE["blue"], lw=1.4, label="read from the cell state")
        row.set_title(f"{name} (mm)", fontsize=9, fontweight="normal", pad=3)
        row.legend(loc="lower left", bbox_to_anchor=(0.3, 0.98), ncols=2, fontsize=8.5, borderaxespad=0)
        _months(row, days)
        told.append(f"{efficiency(found, values):.2f} of {name}")  # the same formula as R²
    return Picture(figure, f"Read linearly from the cell state, R² on test years is {' and '.join(told)}.")
