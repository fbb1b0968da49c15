"""Pictures of chapter 7: decoupled look-back, and published times beside modelled ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.pictures.figures import PALETTE, Picture, new, styled, subplots
from helpers.pictures.plots.common import shade
from helpers.pictures.plots.products import MODEL_ERROR
from vgpu.base.words import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BLOCKS = 64


@styled
def look_back(looked: Mapping[str, Sequence[int]]) -> Picture:
    """One row per block: the block, those whose aggregates it added, and the one at which it could stop.

    looked: for each run, by its name, how many blocks to its left each block looked at, at most `MOST_BLOCKS` blocks.
    Raises ValueError for no runs, too many blocks, or a block that looked at more than there are to its left.
    """
    if not looked or not all(1 <= len(visits) <= MOST_BLOCKS for visits in looked.values()):
        raise ValueError(f"look_back draws one run or more, of 1 to {MOST_BLOCKS} blocks each")
    if any(not min(1, block) <= visits <= block for run in looked.values() for block, visits in enumerate(run)):
        raise ValueError("a block looks at one block to its left at least, if there is one, and never beyond the first")
    figure, axes = subplots(1, len(looked), left=0.07, right=0.99, top=0.80, bottom=0.12, wspace=0.16)
    for plot, (name, visits) in zip(axes.flat, looked.items(), strict=True):
        blocks = len(visits)
        for block, seen in enumerate(visits):
            _squares(plot, block, range(block - seen + 1, block), shade(PALETTE["blue"], 0.6))
            _squares(plot, block, [block - seen] if seen else [], PALETTE["green"])
            _squares(plot, block, [block], PALETTE["ink"])
        plot.set(xlim=(0, blocks), ylim=(blocks, 0), xlabel="block that is looked at")
        ticks = range(0, blocks, max(1, blocks // 8))
        plot.set_xticks([tick + 0.5 for tick in ticks], [str(tick) for tick in ticks], fontsize=8)
        plot.set_yticks([tick + 0.5 for tick in ticks], [str(tick) for tick in ticks], fontsize=8)
        plot.set_title(name, fontsize=9)
    axes.flat[0].set_ylabel("block that looks")
    words = "diagonal: the block · blue: one that knew its own total only · green: one that knew the sum up to itself"
    figure.text(0.01, 0.94, words, fontsize=8)
    return Picture(figure, _blocks_passed(looked))


def _squares(plot: Axes, row: int, columns: Sequence[int], colour: str | tuple[float, float, float]) -> None:
    plot.barh([row + 0.5] * len(columns), [0.84] * len(columns), left=[c + 0.08 for c in columns], height=0.84,
              color=colour)  # fmt: skip


def _blocks_passed(looked: Mapping[str, Sequence[int]]) -> str:
    each = [
        f"{name}: {plural(len(visits), 'block')} looked at {plural(sum(visits), 'other')}, at {max(visits)} at most"
        for name, visits in looked.items()
    ]
    return "; ".join(each) + "."


@styled
def published_times(rows: Sequence, *, unit: str = "ms", on: str = "") -> Picture:
    """Two bars for each kernel: what its author measured, and what the time model says, with its error as a whisker.

    rows: each has `kernel`, `published` and `modelled` times in `unit`, and the modelled `bound`, as
    `published_ladder` gives them; on: the GPU, in words. Raises ValueError for no rows.
    """
    if not rows:
        raise ValueError("there is nothing to compare: `rows` is empty")
    figure, axes = new(place=(0.27, 0.14, 0.70, 0.74))
    most = max(max(row.published, MODEL_ERROR * row.modelled) for row in rows)
    gap = most / 60
    for at, row in enumerate(rows):
        axes.barh(at - 0.19, row.published, height=0.36, color=PALETTE["orange"], hatch="////", ec="white", lw=0)
        axes.barh(at + 0.19, row.modelled, height=0.36, color=PALETTE["blue"])
        low, high = row.modelled / MODEL_ERROR, row.modelled * MODEL_ERROR
        axes.plot([low, high], [at + 0.19] * 2, color="#222222", lw=0.9, marker="|", ms=4)
        axes.text(row.published + gap, at - 0.19, f"{row.published:.3g} published", va="center", fontsize=8)
        axes.text(high + gap, at + 0.19, f"{row.modelled:.3g}, {row.bound}", va="center", fontsize=8)
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, 1.25 * most), yticks=range(len(rows)))
    axes.set_yticklabels([row.kernel for row in rows], fontsize=9)
    axes.tick_params(axis="x", labelsize=9)
    axes.set_xlabel(f"{unit} on {on}" if on else unit, fontsize=9)
    head = f"hatched: published · blue: modelled, with its bound; thin line: a factor of {MODEL_ERROR:g} either way"
    figure.text(0.01, 0.94, head, fontsize=8)
    return Picture(figure, _compared(rows, unit, on))


def _compared(rows: Sequence, unit: str, on: str) -> str:
    where = f" on {on}" if on else ""
    each = "; ".join(f"{row.kernel} {row.published:.3g} ({row.modelled:.3g})" for row in rows)
    far = [row.kernel for row in rows if not 1 / MODEL_ERROR <= row.modelled / row.published <= MODEL_ERROR]
    off = f"off by more than {MODEL_ERROR:g} times at {', '.join(far)}" if far else "within its error everywhere"
    return f"Published {unit}{where}, modelled in brackets — {each}. The model is {off}."
