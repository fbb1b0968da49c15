"""Pictures of chapter 2: warps and their lanes, a grid-stride loop, and the order in which blocks start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import WARP, shade
from vgpu.base.words import plural

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_WARPS, MOST_ORDERS, MOST_BLOCKS, MOST_THREADS, MOST_ROUNDS = 16, 6, 40, 40, 12
_ROW, _HEAD = 0.27, 0.36  # inches


@styled
def warp_rows(blocks: ArrayLike, threads: ArrayLike, *, grid: int, block: int) -> Picture:
    """Every warp of a launch as a row of 32 lanes, with the element that each lane processes.

    blocks, threads: integers of shape (n,): for each element the number of the block, and of the thread in it, that
    signed it, as a kernel wrote them; -1 where no thread wrote. grid, block: blocks of the launch, and threads of each.
    A thread of the launch that has signed nothing is hatched; a lane for which the block has no thread is dotted.
    ValueError for more warps than can be told apart, or for a signature that no thread of the launch has.
    """
    blocks, threads = np.asarray(blocks), np.asarray(threads)
    of_block = (block + WARP - 1) // WARP
    if not 1 <= grid * of_block <= MOST_WARPS:
        raise ValueError(f"this draws 1 to {MOST_WARPS} warps; {grid} blocks of {block} have {grid * of_block}")
    if blocks.max(initial=-1) >= grid or threads.max(initial=-1) >= block:
        raise ValueError(f"the launch has {grid} blocks of {block} threads; a signature is beyond them")
    signed = {(int(b), int(t)): i for i, (b, t) in enumerate(zip(blocks, threads, strict=True)) if b >= 0}
    rows = grid * of_block
    figure, axes = new(place=(0.13, 0.01, 0.86, _ROW * rows / (_ROW * rows + _HEAD)))
    figure.set_size_inches(7.0, _ROW * rows + _HEAD)
    stopped = bare = 0
    for row in range(rows):
        number, warp = divmod(row, of_block)
        for lane in range(WARP):
            thread = WARP * warp + lane
            element = signed.get((number, thread))
            if thread >= block:
                bare += 1
                cell = _cell(lane, row, facecolor="none", edgecolor=PALETTE["grey"], ls=":")
            elif element is None:
                stopped += 1
                cell = _cell(lane, row, facecolor="white", edgecolor=PALETTE["grey"], hatch="/////")
            else:
                light = 0.66 if warp % 2 == 0 else 0.8
                cell = _cell(lane, row, facecolor=shade(CYCLE[number], light), edgecolor="none")
                axes.text(lane + 0.5, row + 0.53, str(element), ha="center", va="center", fontsize=6.2)
            axes.add_patch(cell)
        axes.text(-0.3, row + 0.53, f"block {number}, warp {warp}", ha="right", va="center", fontsize=7.5)
    for number in range(1, grid):
        axes.axhline(number * of_block, color=PALETTE["ink"], lw=1)
    axes.set(xlim=(-0.1, WARP + 0.1), ylim=(rows + 0.05, -0.05))
    axes.axis("off")
    figure.suptitle(
        "row: a warp · column: a lane · number: its element · hatched: stopped by the guard · dotted: no thread",
        x=0.01, ha="left", fontsize=8.5,
    )  # fmt: skip
    idle = f"{plural(stopped, 'thread')} that the guard stops and {plural(bare, 'lane')} without a thread"
    return Picture(
        figure, f"{plural(grid, 'block')} of {plural(block, 'thread')} are {plural(rows, 'warp')} with {idle}."
    )


@styled
def round_rows(blocks: ArrayLike, threads: ArrayLike, *, grid: int, block: int) -> Picture:
    """The elements that each thread of a grid-stride loop processes, with one row per iteration.

    blocks, threads: integers of shape (n,): for each element the number of the block, and of the thread in it, that
    took it, as a kernel wrote them. A thread takes its elements in ascending order. grid, block: blocks of the launch,
    and threads of each. A thread without an element in a round is hatched there. ValueError for more threads or rounds
    than can be told apart, or where an element was left out.
    """
    blocks, threads = np.asarray(blocks), np.asarray(threads)
    count = grid * block
    if (blocks < 0).any() or (threads < 0).any():
        raise ValueError(f"{int(((blocks < 0) | (threads < 0)).sum())} elements were taken by no thread")
    taken = [np.flatnonzero((blocks == b) & (threads == t)).tolist() for b in range(grid) for t in range(block)]
    rounds = max(map(len, taken), default=0)
    if not (1 <= count <= MOST_THREADS and 1 <= rounds <= MOST_ROUNDS):
        raise ValueError(f"this draws 1 to {MOST_THREADS} threads and 1 to {MOST_ROUNDS} rounds: {count} and {rounds}")
    figure, axes = new(place=(0.1, 0.01, 0.89, _ROW * (rounds + 1) / (_ROW * (rounds + 1) + _HEAD)))
    figure.set_size_inches(7.0, _ROW * (rounds + 1) + _HEAD)
    size = min(8.0, 160 / count)
    for column, elements in enumerate(taken):
        number, thread = divmod(column, block)
        axes.text(column + 0.5, -0.45, str(thread), ha="center", va="center", fontsize=size, color=PALETTE["grey"])
        for row in range(rounds):
            if row < len(elements):
                axes.add_patch(_cell(column, row, facecolor=shade(CYCLE[number], 0.7), edgecolor="none"))
                axes.text(column + 0.5, row + 0.53, str(elements[row]), ha="center", va="center", fontsize=size)
            else:
                axes.add_patch(_cell(column, row, facecolor="white", edgecolor=PALETTE["grey"], hatch="/////"))
    for row in range(rounds):
        axes.text(-0.3, row + 0.53, f"round {row}", ha="right", va="center", fontsize=8)
    axes.text(-0.3, -0.45, "thread", ha="right", va="center", fontsize=8, color=PALETTE["grey"])
    for number in range(1, grid):
        axes.axvline(number * block, color=PALETTE["ink"], lw=1)
    axes.set(xlim=(-0.1, count + 0.1), ylim=(rounds + 0.05, -1))
    axes.axis("off")
    figure.suptitle("a column: one thread · colour: its block · number: the element that it takes", x=0.01, ha="left",
                    fontsize=9)  # fmt: skip
    least = min(map(len, taken))
    joined = "or" if rounds - least == 1 else "to"
    each = plural(rounds, "element") if least == rounds else f"{least} {joined} {rounds} elements"
    side = sum(right[:1] == [left[0] + 1] for left, right in pairwise(taken) if left)
    found = "neighbouring threads take neighbouring elements" if side == count - 1 else "neighbours do not lie together"
    return Picture(figure, f"{plural(len(blocks), 'element')}, {plural(count, 'thread')}: each takes {each}; in a "
                           f"round {found}.")  # fmt: skip


@styled
def block_orders(orders: Mapping[str, Sequence[int]]) -> Picture:
    """The order in which the blocks of a launch started, for one run or several.

    orders: by the name of each run, the place in the queue that each block got, as blocks drew numbers: 0 for the
    first that came. ValueError for more runs or blocks than can be told apart, and where numbers are no such places.
    """
    places = {name: [int(place) for place in order] for name, order in orders.items()}
    counts = {len(order) for order in places.values()}
    if not 1 <= len(places) <= MOST_ORDERS or len(counts) != 1 or not 1 <= max(counts) <= MOST_BLOCKS:
        raise ValueError(f"this draws 1 to {MOST_ORDERS} runs of the same 1 to {MOST_BLOCKS} blocks")
    (count,) = counts
    if bad := [name for name, order in places.items() if sorted(order) != list(range(count))]:
        raise ValueError(f"in {bad[0]!r} the blocks have not drawn each number from 0 to {count - 1} once")
    tall = 0.36 * len(places)
    figure, axes = new(place=(0.19, 0.02, 0.8, tall / (tall + _HEAD)))
    figure.set_size_inches(7.0, tall + _HEAD)
    for row, (name, order) in enumerate(places.items()):
        for block, place in enumerate(order):
            light = 0.9 - 0.5 * block / max(count - 1, 1)
            axes.add_patch(_cell(place, row, facecolor=shade(PALETTE["blue"], light), edgecolor="none"))
            ink = "white" if light < 0.55 else PALETTE["ink"]
            axes.text(place + 0.5, row + 0.52, str(block), ha="center", va="center", fontsize=7, color=ink)
        axes.text(-0.3, row + 0.52, name, ha="right", va="center", fontsize=8.5)
    axes.set(xlim=(-0.1, count + 0.1), ylim=(len(places) + 0.05, -0.05))
    axes.axis("off")
    figure.suptitle("in each row from left to right: the blocks in the order in which they began", x=0.01, ha="left",
                    fontsize=9)  # fmt: skip
    found = "; ".join(f"{name}: {_began(order)}" for name, order in places.items())
    return Picture(figure, f"Of {plural(count, 'block')}, which began first, second, third — {found}.")


def _began(order: list[int]) -> str:
    return ", ".join(str(order.index(place)) for place in range(min(3, len(order))))


def _cell(x: float, y: float, **style: Any) -> Rectangle:
    return Rectangle((x + 0.05, y + 0.06), 0.9, 0.88, lw=0.6, **style)
