"""The threads of a launch, drawn over the data they were meant for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import WARP, shade
from vgpu.base.words import plural

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_LABELLED_THREADS = 300


@styled
def thread_grid(
    block: ArrayLike, thread: ArrayLike, data_shape: tuple[int, ...], *, threads_per_block: int,
    launched: int | None = None, title: str = "",
) -> Picture:  # fmt: skip
    """The threads of a launch drawn over the data they are meant for.

    `block`, `thread`: integers of shape (height, width) or (width,): for each position that a thread of the
    launch computed, that thread's block number and its number in the block, as a kernel wrote them; -1 where
    no thread came. `data_shape`: the shape of the data, whose first element lies at position 0; threads
    outside are guarded. `launched`: the blocks of the launch, where some of them may have written nothing.
    """
    block, thread = np.atleast_2d(block), np.atleast_2d(thread)
    height, width = block.shape
    rows, columns = (1, *data_shape)[-2:]
    figure, axes = new(place=(0.01, 0.02, 0.98, 0.88))
    inside: list[tuple[int, int]] = []
    guarded: list[tuple[int, int]] = []
    for y, x in np.argwhere(block >= 0):
        (inside if y < rows and x < columns else guarded).append((int(y), int(x)))

    def cells(places: Sequence[tuple[int, int]]) -> list[Rectangle]:
        return [Rectangle((x + 0.04, y + 0.04), 0.92, 0.92) for y, x in places]

    faces = []
    for y, x in inside:
        lane, warp = thread[y, x] % WARP, thread[y, x] // WARP
        faces.append(shade(CYCLE[block[y, x]], (0.62 if warp % 2 == 0 else 0.76) + 0.16 * lane / (WARP - 1)))
    axes.add_collection(PatchCollection(cells(inside), facecolors=faces, edgecolors="none"))
    axes.add_collection(
        PatchCollection(cells(guarded), facecolors="white", edgecolors=PALETTE["grey"], hatch="////", lw=0.4)
    )
    uncovered = [(y, x) for y in range(rows) for x in range(columns) if y >= height or x >= width or block[y, x] < 0]
    axes.add_collection(PatchCollection(cells(uncovered), facecolors="none", edgecolors=PALETTE["vermilion"], ls=":"))
    span_x, span_y = max(width, columns), max(height, rows)
    size = min(9.0, 7.0 * 72 * 0.98 / span_x * 0.44, 3.5 * 72 * 0.88 / span_y * 0.5)
    if len(inside) <= MOST_LABELLED_THREADS and size >= 3.5:
        for y, x in inside:
            lane, warp = int(thread[y, x] % WARP), int(thread[y, x] // WARP)
            first = lane == 0
            axes.text(
                x + 0.5,
                y + 0.52,
                f"w{warp}" if first else str(lane),
                ha="center",
                va="center",
                fontsize=size,
                fontweight="bold" if first else "normal",
            )
    for number in np.unique(block[block >= 0]):
        ys, xs = np.nonzero(block == number)
        corner, extent = (int(xs.min()), int(ys.min())), (int(np.ptp(xs)) + 1, int(np.ptp(ys)) + 1)
        if extent[0] * extent[1] == len(xs):  # a rectangle of the picture belongs to the block: draw its border
            axes.add_patch(Rectangle(corner, *extent, fill=False, ec=PALETTE["ink"], lw=1.2))
    axes.add_patch(Rectangle((0, 0), columns, rows, fill=False, ec=PALETTE["vermilion"], lw=2.4, ls="--"))
    axes.set(xlim=(-0.3, span_x + 0.3), ylim=(span_y + 0.3, -0.3), aspect="equal" if span_y > 3 else "auto")
    if span_y <= 3:
        tall = min(0.8, 0.3 * span_y)
        axes.set_position((0.01, 0.45 - tall / 2, 0.98, tall))
    axes.axis("off")
    figure.suptitle(
        title or "colour: block · shade: warp and lane (w0, w1 start a warp) · hatched: outside the data (dashed)",
        x=0.01,
        ha="left",
        fontsize=9,
    )
    blocks = len(np.unique(block[block >= 0])) if launched is None else launched
    warps = blocks * -(-threads_per_block // WARP)
    shape = " × ".join(str(n) for n in data_shape)
    end = (
        f"{plural(len(uncovered), 'element')} that no thread reaches"
        if uncovered
        else f"{plural(len(guarded), 'thread')} that the guard must stop"
    )
    return Picture(
        figure,
        f"{plural(blocks, 'block')} of {plural(threads_per_block, 'thread')} ({plural(warps, 'warp')}) over "
        f"{shape} elements, with {end}.",
    )
