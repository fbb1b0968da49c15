"""Layers of networks: images and feature maps, layers on the roofline, convolutions, recurrent steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from helpers.models.windows import Window, outputs, paths, receptive_field
from helpers.pictures.figures import CYCLE, DASHES, PALETTE, Picture, new, styled, subplots
from helpers.pictures.plots.common import one_patch
from helpers.pictures.plots.labels import around, spread
from helpers.pictures.plots.short_values import fitted
from vgpu.base.words import plural
from vgpu.hardware.gpus import GPU
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.roofline import PRECISIONS, bandwidth, peak_flops, rate_text, roofline
from vgpu.tools.streams.spans import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike
    from torch import Tensor

    from helpers.models.layers import Layer
    from helpers.results.torch.operations import Operation

MOST_IMAGES = 64
MOST_LAYERS = 24


@styled
def image_grid(
    images: np.ndarray | Tensor,
    finding: str,
    *,
    signed: bool = False,
    first: np.ndarray | Tensor | None = None,
    across: int | None = None,
) -> Picture:
    """Small grey images beside one another, all on one scale, with a sentence that says what they show.

    `images`: an array or tensor of shape (number, height, width), at most 64. `signed`: white is zero, blue below and
    orange above it, as suits filters. `first`: an image that stands before them, on a scale of its own. `across`: how
    many stand in a row, where the rows mean something.
    """
    images = np.asarray(images, dtype=float)
    if images.ndim != 3 or not 1 <= len(images) <= MOST_IMAGES:
        raise ValueError(
            f"give 1 to {MOST_IMAGES} images in the shape (number, height, width), such as weight[:, 0]; "
            f"this has the shape {images.shape}"
        )
    shown = len(images) + (first is not None)
    across = across or max(1, math.ceil(math.sqrt(shown * 2)))
    down = math.ceil(shown / across)
    figure, grid = subplots(down, across, left=0.01, right=0.99, top=0.98, bottom=0.02, wspace=0.08, hspace=0.08)
    colours = LinearSegmentedColormap.from_list("signed", [PALETTE["blue"], "white", PALETTE["vermilion"]])
    largest = float(np.abs(images).max())
    largest = largest if largest > 0 else 1.0
    # Without interpolation the file holds each pixel once, and the reader's program enlarges it.
    scale = {"cmap": colours, "vmin": -largest, "vmax": largest, "interpolation": "none"}
    if not signed:
        scale |= {"cmap": "gray", "vmin": min(0.0, float(images.min()))}
    places = iter(grid.flat)
    if first is not None:
        next(places).imshow(np.asarray(first, dtype=float), cmap="gray", interpolation="none")
    for axes, image in zip(places, images, strict=False):
        axes.imshow(image, **scale)
    for axes in grid.flat:
        axes.axis("off")
    return Picture(figure, finding, of_images=True)


def least_seconds(layer: Layer | Operation, gpu: GPU, precision: str) -> tuple[float, float]:
    """Seconds for a layer's arithmetic, and for its bytes, at the data sheet's rates; the greater one is a bound."""
    return layer.flops / peak_flops(gpu, precision), layer.nbytes / bandwidth(gpu)


@styled
def layer_roofline(rows: Sequence, gpu: GPU, precision: str = "fp32", *, about: str | None = None) -> Picture:
    """Each layer on the roofline of a GPU by its intensity, and the least time that the roofline allows.

    `rows`: of `results.torch.layers`, or of `results.torch.operations` with words `about` them in place of their batch;
    those without FLOPs have a time and no place on the roof. Nothing here has run:
    a kernel can be slower, and none can be faster that moves all bytes between DRAM and the chip once.
    """
    if not 1 <= len(rows) <= MOST_LAYERS:
        raise ValueError(f"{len(rows)} layers: one picture shows 1 to {MOST_LAYERS}; give a part of them, rows[:20]")
    what, about = ("All together", about) if about else ("All layers together", f"batch {rows[0].batch}")
    figure, ((left, right),) = subplots(1, 2)
    left.set_position((0.09, 0.15, 0.36, 0.74))
    right.set_position((0.65, 0.15, 0.33, 0.74))
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
        0.01, 0.94, f"{gpu.name}, {PRECISIONS[precision]}, {about}. "
        "Blue, circle: its bytes take longer. Red, square, hatched: its arithmetic does.", fontsize=8,
    )  # fmt: skip
    bound = [row.name for row in rows if least_seconds(row, gpu, precision)[0] >= least_seconds(row, gpu, precision)[1]]
    moved = [row.name for row in rows if row.name not in bound]
    said = [f"{gpu.name}, {PRECISIONS[precision]}, {about}: ridge at {ridge:.3g} FLOP/byte."]
    said += [f"Compute-bound: {_few(bound)}."] if bound else []
    said += [f"Memory-bound: {_few(moved)}."] if moved else []
    said.append(f"{what} take {seconds_text(sum(times))} at least (modelled from the data sheet).")
    return Picture(figure, " ".join(said))


def _numbered(axes: Axes, spots: Mapping[int, tuple[float, float]], line: Sequence[tuple[float, float]]) -> None:
    """The number of each mark beside it, where it hides neither another number nor a mark nor the line."""
    points = 72 / axes.figure.dpi
    places = [tuple(points * axes.transData.transform(spot)) for spot in spots.values()]
    corners = [points * axes.transData.transform(corner) for corner in line]
    along = [start + (end - start) * part / 50 for start, end in pairwise(corners) for part in range(51)]
    sizes = [(5.4 * len(str(number)) + 2, 9.5) for number in spots]
    within = tuple(points * np.asarray(axes.bbox.extents))
    centres = spread(places, sizes, within, taken=[around(tuple(place), (2, 2)) for place in along])
    for number, spot, at, (x, y) in zip(spots, spots.values(), places, centres, strict=True):
        axes.annotate(str(number), spot, xytext=(x - at[0], y - at[1]), textcoords="offset points", fontsize=8,
                      ha="center", va="center")  # fmt: skip


def _three_ticks() -> MaxNLocator:
    return MaxNLocator(3)


def _few(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


MOST_PIXELS = 32
"""Along a side of an image whose pixels are still to be told apart."""


def checked_image(image: ArrayLike) -> np.ndarray:
    """An image as a square array of numbers. ValueError for another shape, and where its pixels could not be seen."""
    found = np.asarray(image, dtype=float)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not 1 <= found.shape[0] <= MOST_PIXELS:
        raise ValueError(
            f"the image is a square of 1 to {MOST_PIXELS} pixels a side, such as load_digits().images[0]; "
            f"this has the shape {found.shape}"
        )
    return found


def _bare(axes: Axes) -> None:
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _rectangle(axes: Axes, x: float, y: float, width: float, height: float, **look: Any) -> None:
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), width, height, **look))


@styled
def im2col_map(image: ArrayLike, window: Window, tile: int, number: int) -> Picture:
    """An image beside its im2col matrix, with one tile of columns highlighted in both.

    `window` moves over the square `image`; `tile`: outputs, and so columns, that a block takes at a time; `number`:
    which tile, from 0. On the left darker orange is a pixel that more columns of the tile hold.
    """
    image = checked_image(image)
    size = len(image)
    along = window.outputs(size)
    columns = along * along
    taps = window.kernel**2
    first = min(number * tile, (columns - 1) // tile * tile)
    chosen = range(first, min(first + tile, columns))
    matrix = np.full((taps, columns), np.nan)
    times = np.zeros((size, size))
    outside = 0
    for column in range(columns):
        ys, xs = window.taps(column // along), window.taps(column % along)
        for tap, (y, x) in enumerate((y, x) for y in ys for x in xs):
            inside = 0 <= y < size and 0 <= x < size
            if inside:
                matrix[tap, column] = image[y, x]
            if column in chosen:
                outside += not inside
                if inside:
                    times[y, x] += 1
    figure, ((left, right),) = subplots(
        1, 2, width_ratios=(1, 1.75), left=0.01, right=0.99, top=0.88, bottom=0.08, wspace=0.04
    )
    span = (float(image.min()), float(max(image.max(), image.min() + 1)))
    left.imshow(image, cmap="Greys", vmin=span[0], vmax=2 * span[1])
    pad = window.padding
    _rectangle(left, 0, 0, size, size, fill=False, ec=PALETTE["ink"], lw=1)
    for y, x in np.argwhere(times):
        _rectangle(left, x, y, 1, 1, fc=PALETTE["orange"], ec="none", alpha=0.25 + 0.6 * times[y, x] / times.max())
    middle = chosen[len(chosen) // 2]
    for y in window.taps(middle // along):
        for x in window.taps(middle % along):
            _rectangle(left, x, y, 1, 1, fill=False, ec=PALETTE["vermilion"], lw=1.4)
    left.set(xlim=(-pad - 0.7, size + pad - 0.3), ylim=(size + pad - 0.3, -pad - 0.7))
    left.set_title(f"the image, {size} × {size}", fontsize=9)
    right.imshow(matrix, cmap="Greys", vmin=span[0], vmax=2 * span[1], aspect="auto", interpolation="nearest")
    _rectangle(right, first, 0, len(chosen), taps, fc=PALETTE["orange"], ec=PALETTE["orange"], alpha=0.45)
    _rectangle(right, middle, 0, 1, taps, fill=False, ec=PALETTE["vermilion"], lw=1.4)
    _rectangle(right, 0, 0, columns, taps, fill=False, ec=PALETTE["ink"], lw=1)
    right.set_title(f"its im2col matrix: {taps} taps × {columns} outputs", fontsize=9)
    for axes in (left, right):
        _bare(axes)
    right.set_xlim(-1, columns)
    right.set_ylim(taps - 0.3, -0.7)
    figure.text(
        0.01, 0.01, "orange: the tile's columns, and the pixels they hold · red: one column, one window", fontsize=8
    )
    values = taps * len(chosen)
    said = (
        f"{window} over {size} × {size} pixels leaves {along} × {along} outputs: the matrix holds {taps * columns:,} "
        f"values, {taps * columns / image.size:.3g} for each pixel. The tile of {plural(len(chosen), 'column')} holds "
        f"{values} values of {plural(int((times > 0).sum()), 'pixel')}"
    )
    return Picture(figure, said + (f", and {plural(outside, 'zero')} of the padding." if outside else "."))


@styled
def receptive_field_map(image: ArrayLike, stack: Sequence[Window], row: int, column: int, name: str = "") -> Picture:
    """Which pixels of a square `image` the output at (row, column) of a stack sees, and by how many paths each."""
    image = checked_image(image)
    size, along = len(image), outputs(stack, len(image))
    row, column = min(row, along - 1), min(column, along - 1)
    seen = np.outer(paths(stack, size, row), paths(stack, size, column))
    figure, ((left, right),) = subplots(1, 2, left=0.01, right=0.99, top=0.88, bottom=0.08, wspace=0.04)
    left.imshow(image, cmap="Greys", vmin=image.min(), vmax=2 * max(image.max(), image.min() + 1))
    # One image and a few lines: an element for each pixel would be more SVG than a picture may have.
    veil = np.empty((*seen.shape, 4))
    veil[..., :3] = to_rgb(PALETTE["orange"])
    veil[..., 3] = np.where(seen > 0, 0.2 + 0.65 * np.log1p(seen) / np.log1p(seen.max()), 0)
    left.imshow(veil, interpolation="nearest")
    _rectangle(left, 0, 0, size, size, fill=False, ec=PALETTE["ink"], lw=1)
    left.set(xlim=(-0.7, size - 0.3), ylim=(size - 0.3, -0.7))
    left.set_title(f"the image, {size} × {size}", fontsize=9)
    right.set(xlim=(-0.7, along - 0.3), ylim=(along - 0.3, -0.7), aspect="equal")
    edges = np.arange(along + 1) - 0.5
    for lines in (right.hlines, right.vlines):
        lines(edges, -0.5, along - 0.5, color=PALETTE["grey"], lw=0.5)
    _rectangle(right, column, row, 1, 1, fc=PALETTE["vermilion"], ec=PALETTE["ink"])
    right.set_title(f"the output, {along} × {along}", fontsize=9)
    for axes in (left, right):
        _bare(axes)
    figure.text(
        0.01, 0.01, "red: the output · orange: the pixels it sees, stronger where more paths lead to it", fontsize=8
    )
    field, jump = receptive_field(stack)
    ys, xs = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    said = f"{name}, " if name else ""
    said += f"{plural(len(stack), 'layer')}: an output sees {field} × {field} pixels, and its neighbour begins "
    said += f"{plural(jump, 'pixel')} further on. Output ({row}, {column}) sees {int((seen > 0).sum())} of "
    said += f"{image.size} pixels, rows {ys[0]} to {ys[-1]} and columns {xs[0]} to {xs[-1]}"
    return Picture(figure, said + (f", by 1 to {seen.max():,} paths." if seen.max() > 1 else ", by one path each."))


LEAST, MOST = 1e-16, 1e10
"""Ends of the axis of gradient norms; what lies beyond is drawn at the edge."""


@styled
def gradient_curves(
    curves: Mapping[str, Sequence[float]], *, others: Mapping[str, Sequence[Sequence[float]]] | None = None
) -> Picture:
    """Norms of gradients against the number of steps back, on a logarithmic axis, a line each.

    curves: by name, the norm at 0, 1, 2, … steps back, as a share of that at 0. others: by the same names, further
    curves that are drawn thin behind, in the same colour. The line at 1 is a gradient that is kept whole.
    """
    figure, axes = new(left=0.11, right=0.98, top=0.86, bottom=0.15)
    for number, (name, norms) in enumerate(curves.items()):
        colour, dash = CYCLE[number], DASHES[number]
        for thin in (others or {}).get(name, ()):
            axes.plot(np.clip(thin, LEAST, MOST), color=colour, ls=dash, lw=0.7, alpha=0.45)
        axes.plot(np.clip(norms, LEAST, MOST), color=colour, ls=dash, lw=2.4, label=name)
    longest = max(len(norms) for norms in curves.values())
    axes.axhline(1, color=PALETTE["grey"], lw=0.8)
    axes.set(yscale="log", xlim=(0, longest - 1), ylim=(LEAST / 2, MOST * 2))
    axes.set_xlabel("steps back" + (" · thin: the other settings" if others else ""))
    powers = range(-16, 11, 4)
    axes.set_yticks([10.0**power for power in powers], [f"$10^{{{power}}}$" if power else "1" for power in powers])
    axes.minorticks_off()
    axes.set_ylabel("gradient norm, as a share")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, fontsize=8.5, borderaxespad=0, handlelength=2.5)
    told = "; ".join(f"{name}: {told_norm(norms[-1])}" for name, norms in curves.items())
    return Picture(figure, f"The gradient's norm {plural(longest - 1, 'step')} back, as a share: {told} (calculated).")


def told_norm(norm: float) -> str:
    """A share in words that suit its size."""
    if 0.01 <= norm < 1000:
        return f"{norm:.2g}"
    digits, power = f"{norm:.0e}".split("e")
    return f"{digits}e{int(power)}"


@styled
def launch_lanes(schedules: Mapping[str, Schedule], *, launches: Mapping[str, int], until: float) -> Picture:
    """Several programs on one time axis: the launches of the host, the kernels, and the gaps between them.

    schedules: by the program's name, what `schedule()` of a recording gives. launches: kernels of each. `until`: where
    the axis ends, in seconds; a program that takes longer goes on beyond it.
    """
    figure, axes = new(left=0.21, right=0.98, top=0.9, bottom=0.15)
    ticks = []
    for row, (name, schedule) in enumerate(schedules.items()):
        asks = [(span.start, span.end) for span in schedule.host if span.label != "waits"]
        works = [(span.start, span.end) for span in schedule.spans if span.engine == "SMs"]
        _boxes(axes, asks, row, 0.34, PALETTE["blue"], until)
        _boxes(axes, works, row + 0.38, 0.34, PALETTE["orange"], until)
        axes.plot([min(schedule.seconds, until)] * 2, [row - 0.04, row + 0.76], color=PALETTE["ink"], lw=1, ls=":")
        ticks += [(row + 0.17, "CPU"), (row + 0.55, "GPU")]
        axes.text(
            -0.085 * until, row + 0.36, _cut(name), ha="right", va="center", fontsize=9, clip_on=False, wrap=False
        )
    axes.set(xlim=(0, until), ylim=(len(schedules), -0.15), yticks=[at for at, _ in ticks])
    axes.set_yticklabels([word for _, word in ticks], fontsize=8)
    axes.tick_params(axis="y", length=0)
    unit, scale = ("ms", 1e-3) if until >= 1e-3 else ("µs", 1e-6)
    marks = [tick for tick in axes.get_xticks() if 0 <= tick <= until]
    axes.set_xticks(marks, [f"{tick / scale:g}" for tick in marks])
    gpu = next(iter(schedules.values())).gpu
    axes.set_xlabel(f"{unit} (modelled on {gpu})")
    axes.set_title("blue: the CPU launches · orange: the GPU works · dotted: the end", fontsize=9, fontweight="normal")
    told = "; ".join(
        f"{name}: {plural(launches[name], 'launch')}, {seconds_text(each.seconds)}, "
        f"GPU busy {each.busy('SMs') / each.seconds:.0%}"
        for name, each in schedules.items()
    )
    return Picture(figure, f"{told[0].upper()}{told[1:]} (launches counted, times modelled on {gpu}).")


def _cut(name: str) -> str:
    """A name in lines that have room beside the axis."""
    import textwrap

    return "\n".join(textwrap.wrap(name, 11)[:3])


def _boxes(
    axes: Axes, spans: Sequence[tuple[float, float]], bottom: float, tall: float, colour: str, until: float
) -> None:
    """Spans of one row as one mark, which takes a fraction of the bytes of many."""
    thinnest = until / 900
    boxes = [(start, bottom, max(end, start + thinnest), bottom + tall) for start, end in spans if start < until]
    if boxes:
        axes.add_patch(one_patch(boxes, fc=colour, lw=0))  # an edge would widen short kernels
