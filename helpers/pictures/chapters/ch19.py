"""Pictures of chapter 19: convolutions with their numbers written out, halos, and norms of gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from helpers.pictures.figures import CYCLE, DASHES, MARKERS, PALETTE, Picture, new, styled, subplots
from helpers.pictures.plots.common import check_count, shade
from vgpu.base.words import plural
from vgpu.tools.steps.touched import BLOCK, THREAD, WARP, TouchedElements

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

MOST_CELLS = 9
"""Along a side of a matrix whose numbers are written out."""
MOST_TILES = 3
GAP = 1.6
"""Units between two matrices."""


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _matrix(
    axes: Axes, values: np.ndarray, left: float, top: float,
    colour: Callable[[int, int], str | tuple[float, float, float]] = lambda row, column: "#ffffff",
) -> None:  # fmt: skip
    """Numbers in squares of one unit, the first at (left, top)."""
    for (row, column), value in np.ndenumerate(values):
        x, y = left + column, top + row
        axes.add_patch(Rectangle((x, y), 1, 1, fc=colour(row, column), ec=PALETTE["grey"], lw=0.8))
        axes.text(x + 0.5, y + 0.52, _number(value), ha="center", va="center", fontsize=10)


def _small(name: str, given: ArrayLike) -> np.ndarray:
    found = np.asarray(given, dtype=float)
    if found.ndim != 2 or not 1 <= max(found.shape) <= MOST_CELLS or 0 in found.shape:
        raise ValueError(
            f"the {name} is a matrix of at most {MOST_CELLS} numbers a side, which are written out; this has the "
            f"shape {found.shape}"
        )
    return found


def _columns(image: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, tuple[int, int]]:
    """The im2col matrix of an image, a column for each position of the window, and how many positions there are."""
    across = (image.shape[0] - weight.shape[0] + 1, image.shape[1] - weight.shape[1] + 1)
    if min(across) < 1 or np.prod(across) > MOST_CELLS or weight.size > MOST_CELLS:
        raise ValueError(
            f"a window of {weight.shape} has to fit into an image of {image.shape}, with at most {MOST_CELLS} taps and "
            f"at most {MOST_CELLS} positions"
        )
    windows = np.lib.stride_tricks.sliding_window_view(image, weight.shape)
    return windows.reshape(across[0] * across[1], -1).T, across


def _pale(number: int) -> tuple[float, float, float]:
    return shade(CYCLE[number], 0.86)


def _words(axes: Axes, *places: tuple[float, float, str]) -> None:
    for x, y, words in places:
        axes.text(x, y - 0.25, words, fontsize=9)


def _sums(axes: Axes, image: np.ndarray, weight: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Image, filter and feature map side by side, and the first sum; how wide and high that is, and the results."""
    columns, across = _columns(image, weight)
    results = (weight.reshape(1, -1) @ columns).reshape(across)
    _matrix(axes, image, 0, 0)
    edge = 0.07
    axes.add_patch(Rectangle((edge, edge), weight.shape[1] - 2 * edge, weight.shape[0] - 2 * edge, fill=False,
                             ec=CYCLE[0], lw=2.5))  # fmt: skip
    filter_at = image.shape[1] + GAP
    _matrix(axes, weight, filter_at, 0)
    map_at = filter_at + weight.shape[1] + GAP
    _matrix(axes, results, map_at, 0, lambda row, column: _pale(row * across[1] + column))
    _words(axes, (0, 0, "image"), (filter_at, 0, "filter"), (map_at, 0, "feature map"))
    terms = " + ".join(
        f"{_number(value)}·{_number(factor) if factor >= 0 else f'({_number(factor)})'}"
        for value, factor in zip(columns[:, 0], weight.ravel(), strict=True)
    )
    end = map_at + across[1] + GAP / 2
    axes.text(end, 0.5, f"{terms} = {_number(results.flat[0])}", fontsize=10, va="center", color=CYCLE[0])
    return end + 0.32 * len(terms) + 1.5, max(image.shape[0], across[0]), results


def _page(axes: Axes, width: float, height: float) -> None:
    axes.set(xlim=(-0.1, width), ylim=(height + 0.1, -0.8), aspect="equal", anchor="W")
    axes.set_axis_off()


@styled
def window_sums(image: ArrayLike, weight: ArrayLike) -> Picture:
    """A small image, a filter and the resulting feature map, with all numbers.

    `image`, `weight`: small matrices. ValueError for one too large to be written out, and for a window that does not
    fit.
    """
    image, weight = _small("image", image), _small("filter", weight)
    figure, axes = new(left=0.01, right=0.99, top=0.99, bottom=0.01)
    width, height, results = _sums(axes, image, weight)
    figure.set_size_inches(7.0, min(3.5, 7.0 * (height + 0.9) / (width + 0.1) + 0.1))
    _page(axes, width, height)
    return Picture(
        figure,
        f"A window of {weight.shape[0]} × {weight.shape[1]} weights has {plural(results.size, 'position')} in an image "
        f"of {image.shape[0]} × {image.shape[1]} pixels; the first sum is {_number(results.flat[0])}.",
    )


@styled
def im2col_product(image: ArrayLike, weight: ArrayLike) -> Picture:
    """A small convolution, and below it the same as a matrix product with the im2col matrix, with all numbers.

    `image`, `weight`: small matrices. Each position of the window has a colour: that of its column, and of its result.
    ValueError for a matrix too large to be written out, and for a window that does not fit.
    """
    image, weight = _small("image", image), _small("filter", weight)
    columns, across = _columns(image, weight)
    taps, positions = columns.shape
    figure, axes = new(left=0.01, right=0.99, top=0.99, bottom=0.01)
    width, height, results = _sums(axes, image, weight)
    top = height + 1.3
    middle = top + (taps - 1) / 2
    matrix_at = taps + GAP
    row_at = matrix_at + positions + GAP
    _matrix(axes, weight.reshape(1, -1), 0, middle)
    _matrix(axes, columns, matrix_at, top, lambda row, column: _pale(column))
    _matrix(axes, results.reshape(1, -1), row_at, middle, lambda row, column: _pale(column))
    for x, sign in ((matrix_at - GAP / 2, "×"), (row_at - GAP / 2, "=")):
        axes.text(x, middle + 0.5, sign, fontsize=14, ha="center", va="center")
    _words(axes, (0, middle, "the filter as a row"), (matrix_at, top, "a column for each position"),
           (row_at, middle, "the feature map as a row"))  # fmt: skip
    _page(axes, max(width, row_at + positions + 0.2), top + taps)
    return Picture(
        figure,
        f"The {across[0]} × {across[1]} sums under the window are the product of the filter's {plural(taps, 'weight')} "
        f"with a matrix of {positions} columns. The matrix holds {columns.size} values of the image's "
        f"{plural(image.size, 'pixel')}.",
    )


def _cropped(found: TouchedElements, image: str, out: str) -> tuple[np.ndarray, np.ndarray]:
    """Levels of the image's pixels and of the first filter's outputs, cut down to what the block touches."""
    pixels = found.levels[image]
    outputs = found.levels[out][: len(pixels)]
    if outputs.shape != pixels.shape:
        raise ValueError(
            f"{found.kernel}: {image} has the shape {pixels.shape}, and {out} {found.levels[out].shape}: a map of "
            f"outputs as large as the image is wanted, and below it those of other filters"
        )
    rows, columns = (np.flatnonzero((pixels + outputs).any(axis=axis)) for axis in (1, 0))
    if not len(rows) or not outputs.any():
        raise ValueError(f"{found.kernel}: the block touches nothing of {image} and {out}")
    place = np.s_[max(0, rows[0] - 1) : rows[-1] + 2, max(0, columns[0] - 1) : columns[-1] + 2]
    return pixels[place], outputs[place]


@styled
def halo_map(found: Mapping[str, TouchedElements], size: int, image: str = "image", out: str = "out") -> Picture:
    """The pixels that a block of a tiled convolution loads, those under its outputs, and the halo around them.

    `found`: by name, what a block of a kernel touches of the matrices `image` and `out`, whose first rows are a map as
    large as the image. `size`: of the window, which is drawn for thread 0 around its output. ValueError for no kernel,
    for more than three, and where the shapes do not go together.
    """
    check_count(found, MOST_TILES, "blocks")
    tiles = {name: _cropped(each, image, out) for name, each in found.items()}
    widths = [pixels.shape[1] for pixels, _ in tiles.values()]
    figure, row = subplots(1, len(tiles), width_ratios=widths, left=0.01, right=0.99, top=0.9, bottom=0.13, wspace=0.08)
    looks = ("#ffffff", PALETTE["orange"], shade(PALETTE["sky"], 0.85), PALETTE["sky"])
    told = []
    for axes, (name, (pixels, outputs)) in zip(row[0], tiles.items(), strict=True):
        kinds = np.where(outputs >= WARP, 3, np.where(outputs >= BLOCK, 2, (pixels >= BLOCK).astype(int)))
        axes.pcolormesh(kinds[::-1], cmap=ListedColormap(looks), vmin=-0.5, vmax=3.5, edgecolors="#b8b8b8", lw=0.4)
        height = len(kinds)
        y, x = np.argwhere(outputs == THREAD)[0]
        reach = size // 2
        axes.add_patch(Rectangle((x - reach, height - 1 - y - reach), size, size, fill=False,
                                 ec=PALETTE["vermilion"], lw=2.2))  # fmt: skip
        axes.set(aspect="equal", xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        axes.set_title(name, fontsize=10)
        loaded, under = int((pixels >= BLOCK).sum()), int((outputs >= BLOCK).sum())
        long = np.flatnonzero((outputs >= WARP).any(axis=1))
        told.append(
            f"{name}: {loaded} pixels loaded for {under} outputs, so a halo of {loaded - under}; warp 0 has "
            f"{plural(len(long), 'row')} of them"
        )
    x = 0.01
    for colour, words in zip((*looks[1:], PALETTE["vermilion"]), ("the halo", "under an output of the block",
                             "under an output of warp 0", "thread 0's window"), strict=True):  # fmt: skip
        figure.text(x, 0.03, "■" if colour != PALETTE["vermilion"] else "□", color=colour, fontsize=11)
        figure.text(x + 0.025, 0.032, words, fontsize=8.5)
        x += 0.05 + 0.0098 * len(words)
    return Picture(figure, "; ".join(told) + ".")


@styled
def gradient_norms(norms: Mapping[str, Sequence[float]]) -> Picture:
    """The norm of the loss's gradient with respect to each layer's weights, first layer to last, of several networks.

    `norms` by the network's name. A norm of 0 has no place on the logarithmic axis and is left out.
    """
    figure, axes = new()
    said = []
    for number, (name, values) in enumerate(norms.items()):
        depths = [depth for depth, value in enumerate(values, 1) if value > 0]
        axes.semilogy(
            depths, [values[depth - 1] for depth in depths], label=name, color=CYCLE[number],
            ls=DASHES[number], marker=MARKERS[number], ms=3.5, lw=1.5,
        )  # fmt: skip
        said.append(f"{name} {values[0]:.0e} at layer 1, {values[-1]:.0e} at layer {len(values)}")
    axes.set(xlabel="layer, from the image to the loss", ylabel="norm of its gradient (computed)")
    axes.grid(True, lw=0.5)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    return Picture(figure, "Norm of the gradient by layer: " + "; ".join(said) + ".")
