"""What a warp multiplies on Tensor Cores: tiles along two bands of a product, and fours of which two are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from vgpu.base.words import plural
from vgpu.tools.steps.touched import BLOCK, THREAD, TouchedElements

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TILES = 16


def _band(found: TouchedElements, name: str) -> tuple[slice, slice]:
    """Rows and columns of what the block touches of a matrix. ValueError where that is no rectangle."""
    rows, columns = np.nonzero(found.levels[name] >= BLOCK)
    if not len(rows):
        raise ValueError(f"the block touches nothing of {name}")
    box = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    if len(rows) != found.levels[name][box].size:
        raise ValueError(f"what the block touches of {name} is no rectangle, so it is not cut into tiles")
    return box


def _long(part: slice) -> int:
    return int(part.stop - part.start)


@styled
def tile_walk(
    found: TouchedElements, *, step: int = 16, left: str = "a", right: str = "b", result: str = "c"
) -> Picture:
    """The tiles of both factors that a block of a matrix product loads, pair by pair, and what one lane holds.

    found: what `touched` gives for a launch; `step`: how deep a tile is along the common side. Tiles of one number are
    multiplied with each other, and all products are added into the one tile of `result`, which is drawn large: orange
    are the elements that lane 0 stores. ValueError where the block's part is no band of such tiles, or of over 16.
    """
    bands = {name: _band(found, name) for name in (left, right, result)}
    tall, wide = (_long(part) for part in bands[result])
    depth = _long(bands[left][1])
    if _long(bands[right][0]) != depth or depth % step or not 1 <= depth // step <= MOST_TILES:
        raise ValueError(f"bands of {depth} and {_long(bands[right][0])} are not 1 to {MOST_TILES} tiles of {step}")
    tiles = depth // step
    figure, axes = new(place=(0, 0, 1, 1))
    axes.set(xlim=(0, 700), ylim=(350, 0))
    axes.axis("off")
    rows, inner = found.levels[left].shape
    columns = found.levels[right].shape[1]
    scale = min(310 / (inner + columns), 270 / (inner + rows))
    corner = (22 + scale * inner + 14, 34 + scale * inner + 14)
    origins = {left: (22, corner[1]), right: (corner[0], 34), result: corner}
    looks = {left: "sky", right: "orange", result: "green"}
    for name, (x, y) in origins.items():
        high, across = (scale * side for side in found.levels[name].shape)
        axes.add_patch(Rectangle((x, y), across, high, fc="#ffffff", ec=PALETTE["grey"], lw=0.8))
        place = (x + across / 2, y + high - 10) if name != right else (x + across - 12, y + high / 2)
        axes.text(*place, name, ha="center", va="center", fontsize=10, fontweight="bold", fontstyle="italic")
    for number in range(tiles):
        down, along = bands[left][0].start, bands[left][1].start + number * step
        _tile(axes, origins[left], scale, (down, along, tall, step), looks[left], number)
        down, along = bands[right][0].start + number * step, bands[right][1].start
        _tile(axes, origins[right], scale, (down, along, step, wide), looks[right], number)
    down, along = bands[result][0].start, bands[result][1].start
    _tile(axes, origins[result], scale, (down, along, tall, wide), looks[result], None)
    mine = found.levels[result][bands[result]] == THREAD
    held = _enlarged(axes, mine, shade(PALETTE["green"], 0.85))
    who, parts, part = ("block", "threads", "thread 0") if (found.levels[result] == BLOCK).any() else (
        "warp", "lanes", "lane 0")  # fmt: skip
    axes.text(22, 18, f"one {who}: tile 1 of {left} times tile 1 of {right}, tile 2 times tile 2, …", fontsize=9)
    axes.text(410, 18, f"its tile of {result}, {tall} × {wide}", fontsize=9)
    axes.text(410, 338, f"orange: {plural(held, 'sum')} in the registers of {part}", fontsize=9)
    return Picture(
        figure,
        f"One {who} of {found.kernel} goes along {plural(tiles, 'tile')} of {left} and of {right} for its tile of "
        f"{result}, whose {tall * wide} sums lie in the registers of its {parts}: {part} holds {held} of them.",
    )


def _tile(
    axes: Axes,
    origin: tuple[float, float],
    scale: float,
    box: tuple[int, int, int, int],
    colour: str,
    number: int | None,
) -> None:
    """One tile of a matrix, at (row, column, height, width); the first of a walk is darker."""
    down, along, tall, wide = (scale * side for side in box)
    x, y = origin[0] + along, origin[1] + down
    fill = shade(PALETTE[colour], 0.6 if not number else 0.85)
    axes.add_patch(Rectangle((x, y), wide, tall, fc=fill, ec=PALETTE["ink"], lw=1.4 if not number else 0.6))
    if number is not None:
        axes.text(x + wide / 2, y + tall / 2, str(number + 1), ha="center", va="center_baseline", fontsize=7.5)


def _enlarged(axes: Axes, mine: np.ndarray, fill: tuple[float, float, float]) -> int:
    """The tile of the result, element by element, and how many elements are lane 0's."""
    side = min(275 / mine.shape[1], 290 / mine.shape[0])
    x, y = 410, 30
    axes.add_patch(Rectangle((x, y), side * mine.shape[1], side * mine.shape[0], fc=fill, ec=PALETTE["ink"], lw=1.4))
    for at in range(1, mine.shape[1]):
        axes.plot([x + side * at] * 2, [y, y + side * mine.shape[0]], color="#ffffff", lw=0.7)
    for at in range(1, mine.shape[0]):
        axes.plot([x, x + side * mine.shape[1]], [y + side * at] * 2, color="#ffffff", lw=0.7)
    for row, column in np.argwhere(mine):
        corner = (x + side * column, y + side * row)
        axes.add_patch(Rectangle(corner, side, side, fc=PALETTE["vermilion"], ec="#ffffff", lw=0.7))
    return int(mine.sum())
