"""Pictures of chapter 13: who touches what in a matrix product, banks, tensor memory, the order of work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from helpers.pictures.figures import CYCLE, PALETTE, Picture, blank, styled
from helpers.pictures.plots.common import check_count
from helpers.pictures.plots.products import BANDS, LEVELS, MOST_PRODUCTS, legend_of_levels
from vgpu.base.words import plural
from vgpu.isa.tensor_memory import COLUMNS, QUARTER, UNIT
from vgpu.isa.tensor_memory import LANES as LANES_OF_TENSOR_MEMORY
from vgpu.tools.steps.touched import BLOCK, THREAD, WARP, TouchedElements


def _said(found: TouchedElements, left: str, right: str, result: str) -> str:
    each = [found.count(result, level) for level in (BLOCK, WARP, THREAD)]
    loaded = [f"{found.count(name, THREAD):,} of {name}" for name in (left, right)]
    return (
        f"{found.kernel}: {each[0]:,} results per block, {each[1]:,} per warp, {each[2]:,} per thread, "
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


BANK_GROUPS = 8
"""Chunks of 16 bytes that the 32 banks serve in one wavefront."""


@styled
def bank_groups(
    placements: Mapping[str, Callable[[int, int], int]], shape: tuple[int, int], *, column: int = 0
) -> Picture:
    """The bank group of each chunk of a tile, for each placement, and what reading eight rows of one column costs.

    placements: by name, a function of row and chunk that gives the place of the chunk in shared memory, counted in
    chunks of 16 bytes. `shape`: rows and chunks of a row. ValueError for no placement, or more than three.
    """
    check_count(placements, MOST_PRODUCTS, "placements")
    figure = blank()
    rows, chunks = shape
    width = 1 / len(placements)
    said = []
    for at, (name, place) in enumerate(placements.items()):
        groups = np.array([[place(row, chunk) % BANK_GROUPS for chunk in range(chunks)] for row in range(rows)])
        axes = figure.add_axes((at * width + 0.06, 0.16, width - 0.08, 0.66))
        axes.imshow(groups, cmap="tab10", vmin=0, vmax=9, alpha=0.55, aspect="auto")
        for (row, chunk), group in np.ndenumerate(groups):
            axes.text(chunk, row, str(group), ha="center", va="center", fontsize=8)
        axes.add_patch(Rectangle((column - 0.5, -0.5), 1, BANK_GROUPS, fill=False, ec=PALETTE["ink"], lw=2.2))
        read = np.bincount(groups[:BANK_GROUPS, column], minlength=BANK_GROUPS)
        axes.set_xticks(range(chunks), [f"chunk {chunk}" if chunks <= 4 else str(chunk) for chunk in range(chunks)])
        axes.set_yticks(range(rows))
        axes.tick_params(length=0, labelsize=7.5)
        axes.xaxis.tick_top()
        cost = f"{np.count_nonzero(read)} of {BANK_GROUPS} groups, {plural(int(read.max()), 'wavefront')}"
        figure.text(at * width + 0.06, 0.945, name, fontsize=10, fontweight="bold")
        figure.text(at * width + 0.06, 0.06, f"outlined: {cost}", fontsize=9)
        said.append(f"{name}: the first {BANK_GROUPS} rows of chunk {column} lie in {cost}")
    return Picture(figure, "; ".join(said) + ".")


@styled
def _kib(columns: int) -> str:
    return f"{columns * LANES_OF_TENSOR_MEMORY * 4 // 1024} KiB"


@styled
def tensor_memory(allocated: Mapping[str, tuple[int, int]], load: tuple[int, int, int]) -> Picture:
    """Tensor memory of an SM by lane and column: what is allocated, which lanes each warp reads, and one load of them.

    allocated: by name, the first column and the number of columns; `load`: the warp of one `tcgen05.ld`, its first
    column and its columns. ValueError for none or more than three allocations, for columns that can't be allocated or
    lie in two allocations, and for a load of other lanes or columns than there are.
    """
    check_count(allocated, MOST_PRODUCTS, "allocations")
    taken: set[int] = set()
    for name, (first, columns) in allocated.items():
        mine = set(range(first, first + columns))
        if columns < UNIT or columns & (columns - 1) or not mine <= set(range(COLUMNS)) or mine & taken:
            raise ValueError(f"{name}: {columns} columns from {first} on can't be allocated")
        taken |= mine
    warp, column, width = load
    if not (0 <= warp * QUARTER < LANES_OF_TENSOR_MEMORY and 0 <= column < column + width <= COLUMNS):
        raise ValueError(f"there are no columns {column} to {column + width - 1} of warp {warp}")
    figure, said = blank(), []
    axes = figure.add_axes((0.23, 0.18, 0.74, 0.66))
    axes.set(xlim=(0, COLUMNS), ylim=(LANES_OF_TENSOR_MEMORY, 0), xticks=range(0, COLUMNS + 1, 64), yticks=[])
    axes.xaxis.tick_top()
    axes.tick_params(length=2, labelsize=8)
    for number, (name, (first, columns)) in enumerate(allocated.items()):
        axes.add_patch(Rectangle((first, 0), columns, LANES_OF_TENSOR_MEMORY, color=CYCLE[number], alpha=0.25, lw=0))
        axes.text(first + columns / 2, QUARTER / 2, name, ha="center", va="center", fontsize=10)
        said.append(f"{name}: columns {first} to {first + columns - 1}, {_kib(columns)} of {_kib(COLUMNS)}")
    for each in range(LANES_OF_TENSOR_MEMORY // QUARTER):
        axes.axhline(each * QUARTER, color=PALETTE["grey"], lw=0.7, ls="--")
        words = f"warp {each}: lanes {each * QUARTER} to {(each + 1) * QUARTER - 1}"
        axes.text(-8, (each + 0.5) * QUARTER, words, ha="right", va="center", fontsize=8.5)
    box = Rectangle((column, warp * QUARTER), width, QUARTER, color=PALETTE["orange"], lw=0)
    axes.add_patch(box)
    axes.spines[:].set(visible=True, color=PALETTE["grey"], linewidth=0.7)
    figure.text(0.23, 0.93, "columns of 32 bits", fontsize=9)
    lanes = f"lanes {warp * QUARTER} to {(warp + 1) * QUARTER - 1}"
    figure.text(0.23, 0.06, f"orange: one load of warp {warp}, columns {column} to {column + width - 1}", fontsize=8.5)
    said.append(f"one load of warp {warp} reads {lanes} of columns {column} to {column + width - 1}")
    return Picture(figure, "; ".join(said) + ".")


@styled
def tile_orders(orders: Mapping[str, Sequence[tuple[int, int]]], wave: int) -> Picture:
    """The tiles of a result that the first wave of blocks computes, and the bands of both factors that it loads.

    orders: by name, the (row, column) of each tile in the order of the blocks; `wave`: how many blocks run at once.
    ValueError for no order, or more than three.
    """
    check_count(orders, MOST_PRODUCTS, "orders")
    figure = blank()
    width, said = 1 / len(orders), []
    for at, (name, order) in enumerate(orders.items()):
        rows, columns = (1 + max(tile[axis] for tile in order) for axis in (0, 1))
        when = np.zeros((rows, columns))
        for number, tile in enumerate(order):
            when[tile] = number // wave
        down, along = ({tile[axis] for tile in order[:wave]} for axis in (0, 1))
        axes = figure.add_axes((at * width + 0.035, 0.14, width - 0.05, 0.68))
        axes.imshow(np.where(when == 0, 2, when % 2), cmap=BANDS, vmin=0, vmax=2)
        axes.plot([-1.2] * len(down), sorted(down), "s", ms=2.5, color=PALETTE["blue"], clip_on=False)
        axes.plot(sorted(along), [-1.2] * len(along), "s", ms=2.5, color=PALETTE["blue"], clip_on=False)
        axes.set(xticks=[], yticks=[], xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
        axes.spines[:].set(visible=True, color=PALETTE["grey"], linewidth=0.7)
        figure.text(at * width + 0.035, 0.93, name, fontsize=10, fontweight="bold")
        bands = f"{len(down)} + {len(along)} = {len(down) + len(along)}"
        figure.text(at * width + 0.035, 0.04, f"blue: {bands} bands of a and b", fontsize=8.5)
        said.append(f"{name}: the first {wave} tiles need {len(down)} bands of a and {len(along)} of b")
    return Picture(figure, "; ".join(said) + ".")


@styled
def work_lanes(schedules: Mapping[str, Sequence[Sequence[tuple[int, int]]]]) -> Picture:
    """The steps along k that each SM makes, one after another, coloured by the tile of the result they belong to.

    schedules: by name, for each SM its pieces of work, each (tile, steps). ValueError for none, or more than three.
    """
    check_count(schedules, MOST_PRODUCTS, "schedules")
    figure = blank()
    ends = {name: [sum(steps for _, steps in lane) for lane in lanes] for name, lanes in schedules.items()}
    longest = max(max(each) for each in ends.values())
    high, said = 0.86 / len(schedules), []
    for at, (name, lanes) in enumerate(schedules.items()):
        axes = figure.add_axes((0.09, 0.97 - (at + 1) * high + 0.03, 0.88, high - 0.12))
        for row, pieces in enumerate(lanes):
            start = 0
            for tile, steps in pieces:
                axes.barh(row, steps, left=start, height=0.86, color=CYCLE[tile], ec="white", lw=1)
                axes.text(start + steps / 2, row, str(tile), ha="center", va="center", fontsize=7, color="white")
                start += steps
        axes.set(xlim=(0, longest), ylim=(len(lanes) - 0.4, -0.6), yticks=range(len(lanes)))
        axes.set_yticklabels([f"SM {row}" for row in range(len(lanes))], fontsize=7)
        axes.tick_params(axis="x", labelsize=7)
        busy = sum(ends[name]) / (len(lanes) * max(ends[name]))
        axes.set_title(f"{name}: {max(ends[name])} steps, SMs busy {busy:.0%}", fontsize=9)
        said.append(f"{name}: {max(ends[name])} steps, SMs busy {busy:.0%} of the time")
    figure.text(0.09, 0.015, "steps along k; numbers and colours: the tile of the result", fontsize=8.5)
    return Picture(figure, "; ".join(said) + ".")
