"""Pictures of chapter 15: the bits of number formats, peak rates by type, and 2:4 sparsity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.patches import Patch, Rectangle
from numpy.typing import ArrayLike

from helpers.models.number_formats import Format
from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from vgpu.hardware.time_model import seconds_text

MOST_WEIGHTS = 16


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
    for row, (arithmetic, moved) in enumerate(seconds.values()):
        bars = ((-0.2, arithmetic, "blue", "", "arithmetic at the peak"), (0.2, moved, "orange", "//", "bytes"))
        for offset, value, colour, hatch, label in bars:
            axes.barh(row + offset, 1e6 * value, 0.36, color=PALETTE[colour], hatch=hatch, edgecolor="#ffffff",
                      label=label if row == 0 else None)  # fmt: skip
            axes.text(1e6 * value, row + offset, f" {seconds_text(value)}", va="center", fontsize=9)
    axes.set_yticks(range(len(seconds)), list(seconds))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"µs for {what} on {gpu}, modelled")
    axes.legend(fontsize=9, loc="lower right")
    said = "; ".join(f"{name} {seconds_text(pair[0])} and {seconds_text(pair[1])}" for name, pair in seconds.items())
    return Picture(figure, f"{what[0].upper()}{what[1:]} on {gpu}, arithmetic and bytes (modelled) — {said}.")
