"""Convolution seen: which pixels a window reads, what im2col makes of them, what a stack of windows sees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helpers.models.windows import Window, outputs, paths, receptive_field
from helpers.pictures.figures import PALETTE, Picture, new, styled
from vgpu.base.words import plural

MOST_PIXELS = 32
"""Along a side of an image whose pixels are still to be told apart."""


def checked_image(image) -> np.ndarray:
    """An image as a square array of numbers. ValueError for another shape, and where its pixels could not be seen."""
    found = np.asarray(image, dtype=float)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not 1 <= found.shape[0] <= MOST_PIXELS:
        raise ValueError(
            f"the image is a square of 1 to {MOST_PIXELS} pixels a side, such as load_digits().images[0]; "
            f"this has the shape {found.shape}"
        )
    return found


def _bare(axes) -> None:
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_visible(False)


def _rectangle(axes, x, y, width, height, **look) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x - 0.5, y - 0.5), width, height, **look))


@styled
def im2col_map(image, window: Window, tile: int, number: int) -> Picture:
    """An image beside its im2col matrix, with one tile of columns picked out in both.

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
    figure, (left, right) = new("wide", layout=None, ncols=2, width_ratios=(1, 1.75))
    figure.subplots_adjust(left=0.01, right=0.99, top=0.88, bottom=0.08, wspace=0.04)
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
def receptive_field_map(image, stack: Sequence[Window], row: int, column: int, name: str = "") -> Picture:
    """Which pixels of a square `image` the output at (row, column) of a stack sees, and by how many paths each."""
    image = checked_image(image)
    size, along = len(image), outputs(stack, len(image))
    row, column = min(row, along - 1), min(column, along - 1)
    seen = np.outer(paths(stack, size, row), paths(stack, size, column))
    figure, (left, right) = new("wide", layout=None, ncols=2)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.88, bottom=0.08, wspace=0.04)
    left.imshow(image, cmap="Greys", vmin=image.min(), vmax=2 * max(image.max(), image.min() + 1))
    for y, x in np.argwhere(seen):
        weight = np.log1p(seen[y, x]) / np.log1p(seen.max())
        _rectangle(left, x, y, 1, 1, fc=PALETTE["orange"], ec="none", alpha=0.2 + 0.65 * weight)
    _rectangle(left, 0, 0, size, size, fill=False, ec=PALETTE["ink"], lw=1)
    left.set(xlim=(-0.7, size - 0.3), ylim=(size - 0.3, -0.7))
    left.set_title(f"the image, {size} × {size}", fontsize=9)
    right.set(xlim=(-0.7, along - 0.3), ylim=(along - 0.3, -0.7), aspect="equal")
    for y in range(along):
        for x in range(along):
            _rectangle(right, x, y, 1, 1, fill=False, ec=PALETTE["grey"], lw=0.5)
    _rectangle(right, column, row, 1, 1, fc=PALETTE["vermilion"], ec=PALETTE["ink"])
    right.set_title(f"the output, {along} × {along}", fontsize=9)
    for axes in (left, right):
        _bare(axes)
    figure.text(
        0.01, 0.01, "red: the output · orange: the pixels it sees, darker where more paths lead to it", fontsize=8
    )
    field, jump = receptive_field(stack)
    ys, xs = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    said = f"{name}, " if name else ""
    said += f"{plural(len(stack), 'layer')}: an output sees {field} × {field} pixels, and its neighbour begins "
    said += f"{plural(jump, 'pixel')} further on. Output ({row}, {column}) sees {int((seen > 0).sum())} of "
    said += f"{image.size} pixels, rows {ys[0]} to {ys[-1]} and columns {xs[0]} to {xs[-1]}"
    return Picture(figure, said + (f", by 1 to {seen.max():,} paths." if seen.max() > 1 else ", by one path each."))
