"""Pictures of chapter 15: the bits of number formats, scales of blocks, recipes compared, and 2:4 sparsity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.patches import Patch, Rectangle
from numpy.typing import ArrayLike

from helpers.models.number_formats import Format
from helpers.pictures.figures import CYCLE, DASHES, PALETTE, Picture, new, styled, subplots
from helpers.pictures.plots.common import shade
from vgpu.base.words import plural
from vgpu.hardware.time_model import seconds_text

MOST_WEIGHTS, MOST_MAPS = 16, 4


@styled
def packed_fours(row: ArrayLike, values: ArrayLike, places: ArrayLike) -> Picture:
    """A row of weights in fours, the two of each four that are kept, and how they are stored.

    row: up to 16 weights, a multiple of 4; values and places: what is stored of them, two values for each four and the
    place of each within its four, from 0 to 3. ValueError where a stored value is not the weight at its place.
    """
    row, values = (np.asarray(each, dtype=float).ravel() for each in (row, values))
    places = np.asarray(places).ravel().astype(int)
    if not 4 <= len(row) <= MOST_WEIGHTS or len(row) % 4 or 2 * len(values) != len(row) or len(places) != len(values):
        raise ValueError(
            f"give 4 to {MOST_WEIGHTS} weights, a multiple of 4, and half as many values and places; "
            f"these are {len(row)}, {len(values)} and {len(places)}"
        )
    kept = [4 * (at // 2) + place for at, place in enumerate(places)]
    if (places < 0).any() or (places > 3).any() or not np.array_equal(row[kept], values):
        raise ValueError("each stored value is the weight at its place: row[4 * (k // 2) + places[k]] == values[k]")
    figure, axes = new(place=(0, 0, 1, 1))
    axes.set(xlim=(0, 700), ylim=(350, 0))
    axes.axis("off")
    side = 640 / MOST_WEIGHTS
    start = lambda at: 16 + at * side + (at // 4) * 8
    for at, weight in enumerate(row):
        stays = at in kept
        look = {"fc": shade(PALETTE["sky"], 0.75)} if stays else {"fc": "#f3f3f3", "hatch": "////"}
        axes.add_patch(Rectangle((start(at), 58), side, 44, ec=PALETTE["ink"] if stays else "#b5b5b5", lw=1, **look))
        back = None if stays else {"fc": "#f3f3f3", "ec": "none", "pad": 1}
        axes.text(
            start(at) + side / 2, 80, f"{weight:.2f}", ha="center", va="center", fontsize=8, bbox=back,
            color=PALETTE["ink"] if stays else "#5a5a5a", fontweight="bold" if stays else "normal",
        )  # fmt: skip
        axes.text(start(at) + side / 2, 48, str(at % 4), ha="center", va="center", fontsize=8, color="#5a5a5a")
    for at, (value, place) in enumerate(zip(values, places, strict=True)):
        x = start(4 * (at // 2) + 1 + at % 2)
        axes.add_patch(Rectangle((x, 190), side, 44, fc=shade(PALETTE["sky"], 0.75), ec=PALETTE["ink"], lw=1))
        axes.text(x + side / 2, 212, f"{value:.2f}", ha="center", va="center", fontsize=8, fontweight="bold")
        axes.add_patch(Rectangle((x, 270), side, 30, fc=shade(PALETTE["orange"], 0.85), ec=PALETTE["ink"], lw=1))
        axes.text(x + side / 2, 285, f"{place:02b}", ha="center", va="center", fontsize=9)
        arrow = {"arrowstyle": "->", "lw": 1.2, "color": PALETTE["blue"], "shrinkA": 0, "shrinkB": 1}
        axes.annotate("", (x + side / 2, 190), (start(kept[at]) + side / 2, 102), arrowprops=arrow)
    axes.text(16, 24, "a row in fours, with places 0 to 3; hatched: left out; below: what is stored", fontsize=9)
    aside = start(3) + 6
    axes.text(aside, 212, "values", va="center", fontsize=9)
    axes.text(aside, 285, "places,\n2 bits", va="center", fontsize=9)
    bits = 16 * len(row), 16 * len(values) + 2 * len(places)
    axes.text(16, 330, f"as halves: {bits[0]} bits before, {bits[1]} after", fontsize=9)
    return Picture(
        figure,
        f"Of {len(row)} weights {len(values)} are stored, two of each four, with a place of two bits each: as halves "
        f"{bits[1]} bits in place of {bits[0]}.",
    )


@styled
def bit_layouts(formats: Sequence[Format]) -> Picture:
    """A row of bits for each format: sign, exponent, mantissa."""
    figure, axes = new()
    widest = max(form.bits for form in formats)
    for row, form in enumerate(formats):
        parts = (("orange", 1), ("green", form.exponent), ("sky", form.mantissa))
        at = 0
        for colour, count in parts:
            for _ in range(count):
                axes.add_patch(Rectangle((at, row - 0.36), 1, 0.72, fc=PALETTE[colour], ec="#ffffff", lw=1))
                at += 1
        axes.text(-0.6, row, form.name, ha="right", va="center")
        largest = f"{form.largest:,.0f}" if form.largest < 1e6 else f"{form.largest:.2g}"
        axes.text(at + 0.5, row, f"{form.smallest:.2g} to {largest}", va="center", fontsize=9)
    axes.set(xlim=(-5, widest + 11), ylim=(len(formats) - 0.4, -1.3))
    axes.axis("off")
    keys = {"sign": "orange", "exponent: the range": "green", "mantissa: the precision": "sky"}
    axes.legend(
        [Patch(fc=PALETTE[colour]) for colour in keys.values()], keys, loc="upper left", ncols=3, fontsize=9,
        bbox_to_anchor=(0.1, 1.03), borderaxespad=0,
    )  # fmt: skip
    wide, fine = max(formats, key=lambda form: form.largest), max(formats, key=lambda form: form.mantissa)
    return Picture(
        figure,
        "Exponent bits make the range and mantissa bits the precision — "
        + "; ".join(f"{form.name}: {form.exponent} and {form.mantissa}" for form in formats)
        + f". {wide.name} reaches furthest, {fine.name} is finest.",
    )


@styled
def peak_bars(seconds: Mapping[str, tuple[float, float]], *, gpu: str, what: str) -> Picture:
    """For each type, the time of the arithmetic at its peak rate, and the time to move its bytes."""
    figure, axes = new()
    for row, pair in enumerate(seconds.values()):
        axes.plot([1e6 * value for value in pair], [row, row], color=PALETTE["grey"], lw=1, zorder=0)
        for value, colour, marker, label in zip(
            pair, ("blue", "orange"), "os", ("arithmetic at the peak", "bytes"), strict=True
        ):
            axes.plot(1e6 * value, row, marker, ms=8, color=PALETTE[colour], label=label if row == 0 else None)
            axes.annotate(
                seconds_text(value), (1e6 * value, row), (0, 8), textcoords="offset points", ha="center", fontsize=9
            )
    axes.set_yticks(range(len(seconds)), list(seconds))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"µs for {what} on {gpu}, modelled")
    axes.legend(fontsize=9, loc="lower right")
    said = "; ".join(f"{name} {seconds_text(pair[0])} and {seconds_text(pair[1])}" for name, pair in seconds.items())
    return Picture(figure, f"{what[0].upper()}{what[1:]} on {gpu}, arithmetic and bytes (modelled) — {said}.")


@styled
def scale_maps(maps: Mapping[str, ArrayLike]) -> Picture:
    """The scale of each element of a matrix, for several ways to share scales: a panel each, coloured by size.

    maps: by the panel's title, a matrix of scales above zero. ValueError where there are more than four.
    """
    if not 1 <= len(maps) <= MOST_MAPS:
        raise ValueError(f"give 1 to {MOST_MAPS} maps of scales; these are {len(maps)}")
    powers = {title: np.log2(np.asarray(scales, dtype=float)) for title, scales in maps.items()}
    low = min(each.min() for each in powers.values())
    high = max(each.max() for each in powers.values())
    figure, axes = subplots(1, len(maps), left=0.08, right=0.86, top=0.86, bottom=0.14, wspace=0.25)
    said = []
    for where, (title, each) in zip(axes[0], powers.items(), strict=True):
        image = where.imshow(
            each, cmap="viridis", vmin=low, vmax=max(high, low + 1), aspect="auto", interpolation="nearest"
        )
        where.set_title(title, fontsize=10)
        where.set_xlabel("column", fontsize=9)
        where.tick_params(labelsize=8)
        same = f"2^{each.min():.3g}" if each.min() == each.max() else f"2^{each.min():.3g} to 2^{each.max():.3g}"
        said.append(f"{title}: {plural(len(np.unique(each)), 'different scale')}, {same}")
    axes[0][0].set_ylabel("row", fontsize=9)
    bar = figure.colorbar(image, cax=figure.add_axes((0.89, 0.2, 0.015, 0.6)))
    bar.set_label("log2 of the scale", fontsize=9)
    return Picture(figure, "; ".join(said) + ".")


@styled
def loss_gaps(losses: Mapping[str, ArrayLike], reference: str, *, window: int = 25) -> Picture:
    """Training losses of several runs on the same batches, and how far each is above the `reference` run.

    losses: by name, the loss of each step, all of the same length. Both panels show means over `window` steps.
    """
    if reference not in losses:
        raise ValueError(f"the reference is one of {', '.join(losses)}, not {reference!r}")
    mean = lambda values: np.asarray(values, float)[: len(values) // window * window].reshape(-1, window).mean(1)
    means = {name: mean(values) for name, values in losses.items()}
    steps = window * (1 + np.arange(len(means[reference])))
    figure, axes = subplots(1, 2, left=0.075, right=0.985, top=0.91, bottom=0.14, wspace=0.2)
    for number, (name, values) in enumerate(means.items()):
        dash = DASHES[number + number // len(CYCLE)]  # colours that come again have another dash
        look = {"color": CYCLE[number], "ls": dash, "lw": 1.8, "label": name}
        axes[0][0].plot(steps, values, **look)
        if name != reference:
            axes[0][1].plot(steps, values - means[reference], **look)
    axes[0][0].set_title("loss")
    axes[0][1].set_title(f"loss above that of {reference}")
    axes[0][1].axhline(0, color=PALETTE["grey"], lw=1, zorder=0)
    axes[0][0].legend(fontsize=8)
    for where in axes[0]:
        where.set_xlabel("step")
    ends = {name: values[-1] - means[reference][-1] for name, values in means.items() if name != reference}
    said = ", ".join(f"{name} {gap:+.3f}" for name, gap in ends.items())
    last = f"After {steps[-1]} steps {reference} is at a loss of {means[reference][-1]:.2f}"
    return Picture(figure, f"{last}; above it: {said}.")
