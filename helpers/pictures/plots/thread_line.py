"""A row of threads above the elements that are theirs: how a block's number and a thread's number make an index."""

from __future__ import annotations

import numpy as np

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from vgpu.base.words import plural

MOST_THREADS = 40
"""More have no room for their numbers."""
THREADS, ELEMENTS = 2.3, 0.6  # where the two rows stand
HIGH = 0.8


@styled
def thread_line(blocks, threads, elements: int, *, picked: int | None = None) -> Picture:
    """Each thread of a launch in one dimension above its element; threads without one are hatched.

    `blocks`, `threads`: for each position the number of its block, and of its thread in the block, as a kernel wrote
    them. `elements`: how many positions have data. `picked`: a position whose index is worked out in the picture.
    ValueError where a block has gaps, or for more threads than have room.
    """
    from matplotlib.patches import Rectangle

    blocks, threads = np.asarray(blocks).ravel(), np.asarray(threads).ravel()
    size, count = int(threads.max()) + 1, len(blocks)
    if count > MOST_THREADS:
        raise ValueError(f"{count} threads have no room in a row; at most {MOST_THREADS} do")
    if not np.array_equal(blocks * size + threads, np.arange(count)):
        raise ValueError("the threads are to stand in a row: position i holds thread i % size of block i // size")
    figure, axes = new("wide", layout=None)
    axes.set_position([0.01, 0.02, 0.98, 0.96])
    for at in range(count):
        colour = CYCLE[blocks[at] % len(CYCLE)]
        used = at < elements
        look = {"fc": shade(colour, 0.72), "ec": colour} if used else {"fc": "white", "ec": PALETTE["grey"]}
        axes.add_patch(Rectangle((at + 0.06, THREADS), 0.88, HIGH, hatch=None if used else "////", lw=0.8, **look))
        if used:
            axes.text(at + 0.5, THREADS + HIGH / 2, threads[at], ha="center", va="center", fontsize=8)
            axes.plot([at + 0.5] * 2, [ELEMENTS + HIGH + 0.06, THREADS - 0.06], color=colour, lw=1)
            axes.add_patch(Rectangle((at + 0.06, ELEMENTS), 0.88, HIGH, fc="white", ec=PALETTE["ink"], lw=0.8))
            axes.text(at + 0.5, ELEMENTS + HIGH / 2, at, ha="center", va="center", fontsize=8)
    for block in np.unique(blocks):
        (places,) = np.nonzero(blocks == block)
        axes.add_patch(Rectangle((places[0], THREADS - 0.14), size, HIGH + 0.28, fill=False, ec="black", lw=1))
        axes.text(places[0] + size / 2, THREADS + HIGH + 0.24, f"block {block}", ha="center", va="bottom", fontsize=9)
    axes.text(0, THREADS + HIGH + 0.75, "threads, by their numbers in the block", va="bottom", fontsize=9)
    axes.text(0, ELEMENTS - 0.15, "elements of the array", va="top", fontsize=9)
    left = count - min(elements, count)
    if left:
        middle = (elements + count) / 2
        axes.text(middle, ELEMENTS + HIGH / 2, "no elements", ha="center", va="center", fontsize=8, color="#555555")
    said = ""
    if picked is not None:
        block, thread = int(blocks[picked]), int(threads[picked])
        said = f" Thread {thread} of block {block} has element {block} × {size} + {thread} = {picked}."
        for row in (THREADS, ELEMENTS):
            axes.add_patch(
                Rectangle((picked + 0.06, row), 0.88, HIGH, fill=False, ec=PALETTE["vermilion"], lw=2.4, zorder=3)
            )
        axes.text(
            picked + 0.5, ELEMENTS - 0.15, f"{block} × {size} + {thread} = {picked}", ha="center", va="top",
            fontsize=10, fontweight="bold", color=PALETTE["vermilion"],
        )  # fmt: skip
    axes.set(xlim=(-0.4, count + 0.4), ylim=(-0.1, THREADS + HIGH + 1.2))
    axes.axis("off")
    end = f"{plural(left, 'thread')} {'have' if left != 1 else 'has'} none" if left else "none is left over"
    return Picture(
        figure,
        f"{plural(len(np.unique(blocks)), 'block')} of {plural(size, 'thread')} over {plural(elements, 'element')}: "
        f"each thread has one element, and {end}.{said}",
    )
