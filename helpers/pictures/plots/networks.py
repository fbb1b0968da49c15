"""Networks seen: their filters and feature maps, their gradients by depth, their layers under a GPU's roof."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from helpers.hardware.gpus import GPU
from helpers.hardware.time_model import seconds_text
from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.labels import around, spread
from helpers.pictures.plots.roofline import UNITS
from helpers.pictures.plots.short_values import fitted
from helpers.results.roofline import bandwidth, peak_flops, rate_text, roofline

MOST_IMAGES = 64
MOST_LAYERS = 24


@styled
def image_grid(images, finding: str, *, signed: bool = False, first=None) -> Picture:
    """Small grey images beside one another, all on one scale, with a sentence that says what they show.

    `images`: an array or tensor of shape (number, height, width), at most 64. `signed`: white is zero, blue below and
    orange above it, as suits filters. `first`: an image that stands before them, on a scale of its own.
    """
    images = np.asarray(images, dtype=float)
    if images.ndim != 3 or not 1 <= len(images) <= MOST_IMAGES:
        raise ValueError(
            f"give 1 to {MOST_IMAGES} images in the shape (number, height, width), such as weight[:, 0]; "
            f"this has the shape {images.shape}"
        )
    shown = len(images) + (first is not None)
    across = max(1, math.ceil(math.sqrt(shown * 2)))
    down = math.ceil(shown / across)
    figure, grid = new("wide", layout=None, nrows=down, ncols=across, squeeze=False)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.98, bottom=0.02, wspace=0.08, hspace=0.08)
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("signed", [PALETTE["blue"], "white", PALETTE["vermilion"]])
    largest = float(np.abs(images).max())
    largest = largest if largest > 0 else 1.0
    scale = {"cmap": colours, "vmin": -largest, "vmax": largest}
    if not signed:
        scale = {"cmap": "gray", "vmin": min(0.0, float(images.min())), "vmax": largest}
    places = iter(grid.flat)
    if first is not None:
        next(places).imshow(np.asarray(first, dtype=float), cmap="Greys")
    for axes, image in zip(places, images, strict=False):
        axes.imshow(image, **scale)
    for axes in grid.flat:
        axes.axis("off")
    return Picture(figure, finding)


def least_seconds(layer, gpu: GPU, precision: str) -> tuple[float, float]:
    """Seconds for a layer's arithmetic, and for its bytes, at the data sheet's rates; the greater one is a bound."""
    return layer.flops / peak_flops(gpu, precision), layer.nbytes / bandwidth(gpu)


@styled
def layer_roofline(rows: Sequence, gpu: GPU, precision: str = "fp32", *, about: str | None = None) -> Picture:
    """Each layer where its intensity puts it on a GPU's roof, and the least time that the roof allows it.

    `rows`: of `results.torch.layers`, or of `results.torch.operations` with words `about` them in place of their batch;
    those without FLOPs have a time and no place on the roof. Nothing here has run:
    a kernel can be slower, and none can be faster that moves all bytes between DRAM and the chip once.
    """
    if not 1 <= len(rows) <= MOST_LAYERS:
        raise ValueError(f"{len(rows)} layers: one picture shows 1 to {MOST_LAYERS}; give a part of them, rows[:20]")
    what, about = ("All together", about) if about else ("All layers together", f"batch {rows[0].batch}")
    figure, (left, right) = new("wide", layout=None, ncols=2)
    left.set_position([0.09, 0.15, 0.36, 0.74])
    right.set_position([0.65, 0.15, 0.33, 0.74])
    ridge = roofline(1, 1, gpu, precision).ridge
    peak = peak_flops(gpu, precision)
    working = [row for row in rows if row.flops]
    reach = [row.intensity for row in working]
    span = (min([ridge / 64, *[each / 2 for each in reach]]), max([ridge * 16, *[each * 2 for each in reach]]))
    left.loglog([span[0], ridge, span[1]], [span[0] * bandwidth(gpu), peak, peak], color=PALETTE["ink"], lw=1.6)
    left.axvline(ridge, color=PALETTE["grey"], lw=0.8, ls=":")
    left.set(xlim=span, xlabel="FLOP per byte (counted)", ylabel="FLOP/s that the roof allows")
    left.yaxis.set_major_formatter(lambda value, _: rate_text(value, ""))
    left.tick_params(labelsize=7)
    times = [max(least_seconds(row, gpu, precision)) for row in rows]
    spots: dict[int, tuple[float, float]] = {}
    for number, row in enumerate(rows, 1):
        arithmetic, moving = least_seconds(row, gpu, precision)
        colour, marker = ("vermilion", "s") if arithmetic >= moving else ("blue", "o")
        if row.flops:
            attainable = min(peak, row.intensity * bandwidth(gpu))
            left.plot([row.intensity], [attainable], marker=marker, color=PALETTE[colour], ms=6, mec="white", zorder=3)
            spots[number] = row.intensity, attainable
        right.barh(number, times[number - 1], color=PALETTE[colour], height=0.7,
                   hatch="" if colour == "blue" else "///", edgecolor="white", lw=0)  # fmt: skip
    _numbered(left, spots, [(span[0], span[0] * bandwidth(gpu)), (ridge, peak), (span[1], peak)])
    names = [f"{number} {fitted(row.name, 17)}" for number, row in enumerate(rows, 1)]
    right.set_yticks(range(1, len(rows) + 1), names, fontsize=min(8, 150 / len(rows)))
    right.set_ylim(len(rows) + 0.6, 0.4)
    right.set_xlabel("least time by the roof (modelled)")
    right.xaxis.set_major_locator(_three_ticks())
    right.xaxis.set_major_formatter(lambda value, _: seconds_text(value) if value else "0")
    right.tick_params(axis="x", labelsize=7)
    figure.text(
        0.01, 0.94, f"{gpu.name}, {UNITS[precision]}, {about}. "
        "Blue, circle: its bytes take longer. Red, square, hatched: its arithmetic does.", fontsize=8,
    )  # fmt: skip
    bound = [row.name for row in rows if least_seconds(row, gpu, precision)[0] >= least_seconds(row, gpu, precision)[1]]
    moved = [row.name for row in rows if row.name not in bound]
    said = [f"{gpu.name}, {UNITS[precision]}, {about}: ridge at {ridge:.3g} FLOP/byte."]
    said += [f"Compute-bound: {_few(bound)}."] if bound else []
    said += [f"Memory-bound: {_few(moved)}."] if moved else []
    said.append(f"{what} take {seconds_text(sum(times))} at least (modelled from the data sheet).")
    return Picture(figure, " ".join(said))


def _numbered(axes, spots: Mapping[int, tuple[float, float]], line: Sequence[tuple[float, float]]) -> None:
    """The number of each mark beside it, where it hides neither another number nor a mark nor the line."""
    points = 72 / axes.figure.dpi
    places = [tuple(points * axes.transData.transform(spot)) for spot in spots.values()]
    corners = [points * axes.transData.transform(corner) for corner in line]
    along = [start + (end - start) * part / 50 for start, end in pairwise(corners) for part in range(51)]
    sizes = [(5.4 * len(str(number)) + 2, 9.5) for number in spots]
    within = tuple(points * axes.bbox.extents)
    centres = spread(places, sizes, within, taken=[around(tuple(place), (2, 2)) for place in along])
    for number, spot, at, (x, y) in zip(spots, spots.values(), places, centres, strict=True):
        axes.annotate(str(number), spot, xytext=(x - at[0], y - at[1]), textcoords="offset points", fontsize=8,
                      ha="center", va="center")  # fmt: skip


def _three_ticks():
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3)


def _few(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"
