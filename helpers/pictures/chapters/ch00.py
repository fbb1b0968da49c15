"""Pictures of chapter 0: repeated timings, ways to make one number of them, and one thread for each element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from vgpu.base.words import plural

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

OFF = 0.1
"""From which share of the true value on an estimate counts as wrong."""


@styled
def estimates(by_way: Mapping[str, Sequence[float]], true: float, *, unit: str = "ms") -> Picture:
    """Every estimate as a dot, a row for each way of making it, the true value as a line.

    `by_way`: the estimates that each way made, all above 0, in `unit`; `true`: what they should be. The axis is
    logarithmic. Dots are spread within their row, so that many alike can be told from few.
    """
    if not by_way or not all(len(found) and min(found) > 0 for found in by_way.values()) or not true > 0:
        raise ValueError("give the estimates of one way or more, each above 0, and the true value")
    figure, axes = new(left=0.16, right=0.97, top=0.9, bottom=0.16)
    spread = np.random.default_rng(0)
    labels, said = [], []
    for row, (name, given) in enumerate(by_way.items()):
        found = np.asarray(given, float)
        high = row + spread.uniform(-0.3, 0.3, len(found))
        axes.plot(found, high, "o", ms=3, mew=0, alpha=0.55, color=CYCLE[row])
        wrong = float((abs(found / true - 1) > OFF).mean())
        labels.append(f"{name}\n{wrong:.1%} wrong")
        said.append(f"{name}: {wrong:.1%} of them, the worst {found[abs(found - true).argmax()]:.2f} {unit}")
    axes.axvline(true, color=PALETTE["ink"], ls="--", lw=1)
    axes.set(xscale="log", ylim=(len(by_way) - 0.5, -0.5), yticks=range(len(by_way)), xlabel=f"estimate, {unit}")
    axes.set_yticklabels(labels)
    low, top = axes.get_xlim()
    ticks = [value for value in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= value * true <= top]
    axes.set_xticks([value * true for value in ticks], [f"{value * true:g}" for value in ticks])
    axes.minorticks_off()
    title = f"each dot: an estimate · dashed: the true {true:g} {unit} · wrong: more than {OFF:.0%} off"
    axes.set_title(title, fontsize=9, fontweight="normal")
    return Picture(figure, f"More than {OFF:.0%} off the true {true:g} {unit} — {'; '.join(said)}.")


MOST_THREADS = 40
"""More have no room for their numbers."""
THREADS, ELEMENTS = 2.3, 0.6  # where the two rows stand
HIGH = 0.8


@styled
def thread_line(blocks: ArrayLike, threads: ArrayLike, elements: int, *, picked: int | None = None) -> Picture:
    """The threads of a 1D launch above their elements; threads without an element are hatched.

    `blocks`, `threads`: for each position the number of its block, and of its thread in the block, as a kernel wrote
    them. `elements`: how many positions have data. `picked`: a position whose index is worked out in the picture.
    ValueError where a block has gaps, or for more threads than have room.
    """
    blocks, threads = np.asarray(blocks).ravel(), np.asarray(threads).ravel()
    size, count = int(threads.max()) + 1, len(blocks)
    if count > MOST_THREADS:
        raise ValueError(f"{count} threads have no room in a row; at most {MOST_THREADS} do")
    if not np.array_equal(blocks * size + threads, np.arange(count)):
        raise ValueError("the threads are to stand in a row: position i holds thread i % size of block i // size")
    figure, axes = new(place=(0.01, 0.02, 0.98, 0.96))
    for at in range(count):
        colour = CYCLE[blocks[at]]
        used = at < elements
        look = {"fc": shade(colour, 0.72), "ec": colour} if used else {"fc": "white", "ec": PALETTE["grey"]}
        axes.add_patch(Rectangle((at + 0.06, THREADS), 0.88, HIGH, hatch=None if used else "////", lw=0.8, **look))
        if used:
            axes.text(at + 0.5, THREADS + HIGH / 2, str(threads[at]), ha="center", va="center", fontsize=8)
            axes.plot([at + 0.5] * 2, [ELEMENTS + HIGH + 0.06, THREADS - 0.06], color=colour, lw=1)
            axes.add_patch(Rectangle((at + 0.06, ELEMENTS), 0.88, HIGH, fc="white", ec=PALETTE["ink"], lw=0.8))
            axes.text(at + 0.5, ELEMENTS + HIGH / 2, str(at), ha="center", va="center", fontsize=8)
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
    end = f"{plural(left, 'other thread')} {'have' if left != 1 else 'has'} none" if left else "none is left over"
    return Picture(
        figure,
        f"{plural(len(np.unique(blocks)), 'block')} of {plural(size, 'thread')} over {plural(elements, 'element')}: "
        f"each of {plural(count - left, 'thread')} has one, and {end}.{said}",
    )


@styled
def run_bars(seconds: Sequence[float], *, title: str = "") -> Picture:
    """Each run of the same call as a bar, the first one picked out, with the median of the others as a
    line."""
    milliseconds = np.asarray(seconds, float) * 1e3
    figure, axes = new()
    axes.bar(np.arange(len(milliseconds)) + 1, milliseconds, color=PALETTE["blue"])
    axes.bar([1], milliseconds[:1], color=PALETTE["vermilion"], hatch="//", ec="white")
    median = float(np.median(milliseconds[1:]))
    axes.axhline(median, color=PALETTE["ink"], ls="--", lw=1)
    axes.text(
        len(milliseconds) + 0.5, median * 1.25, "median of the others", ha="right", va="bottom", fontsize=9,
        bbox={"fc": "white", "ec": "none", "pad": 0.6},
    )  # fmt: skip
    axes.set(xlabel="run", ylabel="ms (measured)", yscale="log", title=title)
    return Picture(
        figure,
        f"Run 1 takes {milliseconds[0] / median:,.0f} times as long as the median of the "
        f"{len(milliseconds) - 1} runs after it (measured).",
    )
