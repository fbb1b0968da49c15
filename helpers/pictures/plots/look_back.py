"""A single-pass scan as it ran: which blocks each block looked back at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from vgpu.base.words import plural

MOST_BLOCKS = 64


@styled
def look_back(looked: Mapping[str, Sequence[int]]) -> Picture:
    """A row for each block: itself, the blocks whose own totals it added, and the one at which it could stop.

    looked: for each run, by its name, how many blocks to its left each block looked at, at most `MOST_BLOCKS` blocks.
    Raises ValueError for no runs, too many blocks, or a block that looked at more than there are to its left.
    """
    if not looked or not all(1 <= len(visits) <= MOST_BLOCKS for visits in looked.values()):
        raise ValueError(f"look_back draws one run or more, of 1 to {MOST_BLOCKS} blocks each")
    if any(not min(1, block) <= visits <= block for run in looked.values() for block, visits in enumerate(run)):
        raise ValueError("a block looks at one block to its left at least, if there is one, and never beyond the first")
    figure, axes = new("wide", layout=None, ncols=len(looked), squeeze=False)
    figure.subplots_adjust(left=0.07, right=0.99, top=0.80, bottom=0.12, wspace=0.16)
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
    words = "black: the block · blue: one that knew its own total only · green: one that knew the sum up to itself"
    figure.text(0.01, 0.94, words, fontsize=8)
    return Picture(figure, _said(looked))


def _squares(plot, row: int, columns: Sequence[int], colour: str) -> None:
    plot.barh([row + 0.5] * len(columns), [0.84] * len(columns), left=[c + 0.08 for c in columns], height=0.84,
              color=colour)  # fmt: skip


def _said(looked: Mapping[str, Sequence[int]]) -> str:
    each = [
        f"{name}: {plural(len(visits), 'block')} looked at {plural(sum(visits), 'other')}, at {max(visits)} at most"
        for name, visits in looked.items()
    ]
    return "; ".join(each) + "."
