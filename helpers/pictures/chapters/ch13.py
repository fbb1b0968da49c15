"""Pictures of chapter 13: what a block, a warp and a thread touch in a matrix product."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import ListedColormap

from helpers.pictures.figures import Picture, blank, styled
from helpers.pictures.plots.common import check_count
from helpers.pictures.plots.products import LEVELS, MOST_PRODUCTS, legend_of_levels
from vgpu.tools.steps.touched import BLOCK, THREAD, WARP, TouchedElements


def _said(found: TouchedElements, left: str, right: str, result: str) -> str:
    each = [found.count(result, level) for level in (BLOCK, WARP, THREAD)]
    loaded = [f"{found.count(name, THREAD):,} of {name}" for name in (left, right)]
    return (
        f"{found.kernel}: {each[0]:,} results a block, {each[1]:,} a warp, {each[2]:,} a thread, "
        f"which loads {' and '.join(loaded)}"
    )


@styled
def product_tiles(found: Sequence[TouchedElements], left: str = "a", right: str = "b", result: str = "c") -> Picture:
    """The elements of `left`, `right` and `result` that a block, one warp of it and one thread touch, for each kernel.

    What a thread loads of the factors it loads for its block, where tiles go through shared memory; what it stores
    is its own. ValueError for no kernel, or more than three.
    """
    check_count(found, MOST_PRODUCTS, "kernels")
    figure = blank()
    colours = ListedColormap(LEVELS)
    width = 1 / max(2, len(found))
    for at, each in enumerate(found):
        factors = {name: each.levels[name] for name in (left, right, result)}
        rows, depth = factors[left].shape
        columns = factors[right].shape[1]
        gap = max(2, columns // 20)
        whole = (depth + gap + columns, depth + gap + rows)
        scale = min((width - 0.03) * 7.0 / whole[0], 0.82 * 3.5 / whole[1])
        bottom = 0.09 + (0.82 - whole[1] * scale / 3.5) / 2
        boxes = {
            left: (0, 0, depth, rows),
            right: (depth + gap, rows + gap, columns, depth),
            result: (depth + gap, 0, columns, rows),
        }
        for name, (x, y, wide, tall) in boxes.items():
            axes = figure.add_axes(
                (at * width + 0.015 + x * scale / 7.0, bottom + y * scale / 3.5, wide * scale / 7.0, tall * scale / 3.5)
            )
            axes.imshow(factors[name], cmap=colours, vmin=0, vmax=3, interpolation="none", aspect="auto")
            mine = np.argwhere(factors[name] == THREAD)
            size = 1.6 if len(mine) > 2 else 4.5  # one element of 128 × 128 would hardly be seen
            axes.plot(mine[:, 1], mine[:, 0], "s", ms=size, mew=0, color=LEVELS[THREAD], clip_on=False)
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set(visible=True, color="#777777", linewidth=0.7)
        figure.text(at * width + 0.015, 0.015, f"{each.kernel}: {left} left, {right} above, {result}", fontsize=8)
    legend_of_levels(figure, 0.945, ("the block", "its warp 0", "thread 0"))
    return Picture(figure, "; ".join(_said(each, left, right, result) for each in found) + ".")
