"""Pictures of chapter 5: the halo of a stencil, and a transpose through shared memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Polygon, Rectangle

from helpers.pictures.figures import PALETTE, Picture, new, styled, subplots
from helpers.pictures.plots.common import check_count
from helpers.pictures.plots.products import LEVELS, MOST_PRODUCTS, legend_of_levels
from vgpu.tools.steps.touched import BLOCK, THREAD, WARP, TouchedElements


@styled
def halo_strip(found: TouchedElements, radius: int, x: str = "x", out: str = "out") -> Picture:
    """The elements that a block of a stencil loads: those of its own results, and the halo at both ends.

    `found`: what a block touches of `x`, which begins `radius` elements before `out`; thread 0's window is drawn, too.
    ValueError where the block stores nothing.
    """
    loaded, stored = found.levels[x][0] >= BLOCK, found.levels[out][0] >= BLOCK
    if not stored.any():
        raise ValueError(f"the block stores nothing to {out}")
    under = np.zeros(len(loaded), bool)
    under[radius : radius + len(stored)] = stored
    figure, axes = new(place=(0.01, 0.02, 0.98, 0.82))
    figure.set_size_inches(7.0, 2.2)
    axes.set(xlim=(-3, len(loaded)), ylim=(5.6, 0))
    axes.axis("off")
    looks = {"halo": PALETTE["orange"], "own": PALETTE["sky"], "none": "#ffffff"}
    for k in range(len(loaded)):
        kind = "none" if not loaded[k] else "own" if under[k] else "halo"
        axes.add_patch(Rectangle((k, 0.4), 1, 1.2, fc=looks[kind], ec=PALETTE["grey"], lw=0.6))
    for k in range(len(stored)):
        kind = "own" if stored[k] else "none"
        axes.add_patch(Rectangle((k + radius, 3.9), 1, 1.2, fc=looks[kind], ec=PALETTE["grey"], lw=0.6))
    mine = int(np.flatnonzero(found.levels[out][0] == THREAD)[0])
    window = [(mine, 1.6), (mine + 2 * radius + 1, 1.6), (mine + radius + 1, 3.9), (mine + radius, 3.9)]
    axes.add_patch(Polygon(window, fc=PALETTE["vermilion"], alpha=0.25, ec="none"))
    axes.add_patch(Rectangle((mine, 0.4), 2 * radius + 1, 1.2, fill=False, ec=PALETTE["vermilion"], lw=2))
    for row, name in ((1.0, x), (4.5, out)):
        axes.text(-0.5, row, name, ha="right", va="center", fontsize=9)
    left = 0.02
    for colour, words in ((looks["own"], "the block's own elements"), (looks["halo"], "its halo"),
                          (PALETTE["vermilion"], "thread 0's window")):  # fmt: skip
        figure.text(left, 0.9, "■", color=colour, fontsize=11)
        figure.text(left + 0.025, 0.905, words, fontsize=8.5)
        left += 0.05 + 0.0105 * len(words)
    halo = int((loaded & ~under).sum())
    return Picture(
        figure,
        f"A block loads {int(loaded.sum())} elements for {int(stored.sum())} results, so {halo} of them are its halo; "
        f"each thread adds up {2 * radius + 1}.",
    )


@styled
def moves(found: Sequence[TouchedElements], source: str = "x", target: str = "out") -> Picture:
    """What a block, one of its warps and one thread load from a matrix, and where they store it, for each kernel.

    ValueError for no kernel, or more than three.
    """
    check_count(found, MOST_PRODUCTS, "kernels")
    figure, axes = subplots(2, len(found), left=0.01, right=0.99, top=0.9, bottom=0.02, hspace=0.12, wspace=0.05)
    figure.set_size_inches(7.0, 5.0)
    told = []
    for column, each in zip(axes.T, found, strict=True):
        for place, name, what in zip(column, (source, target), ("loads from", "stores to"), strict=True):
            levels = each.levels[name]
            place.imshow(levels, cmap=ListedColormap(LEVELS), vmin=0, vmax=3, interpolation="none")
            mine = np.argwhere(levels == THREAD)
            place.plot(mine[:, 1], mine[:, 0], "s", ms=3.5, mew=0, color=LEVELS[THREAD], clip_on=False)
            place.set(xticks=[], yticks=[])
            place.set_title(f"{each.kernel} {what} {name}", fontsize=8.5)
            place.spines[:].set(visible=True, color="#777777", linewidth=0.7)
        ways = _run(each.levels[source], "loads"), _run(each.levels[target], "stores")
        told.append(f"{each.kernel}: a warp {' and '.join(ways)}")
    legend_of_levels(figure, 0.955, ("a block", "one warp of it", "one thread"))
    return Picture(figure, "; ".join(told) + ".")


def _run(levels: np.ndarray, verb: str) -> str:
    """Along what a warp loads or stores, in words."""
    rows, columns = np.nonzero(levels >= WARP)
    if len(set(rows.tolist())) == 1:
        return f"{verb} along a row"
    return f"{verb} down a column" if len(set(columns.tolist())) == 1 else f"{verb} from {len(set(rows.tolist()))} rows"
