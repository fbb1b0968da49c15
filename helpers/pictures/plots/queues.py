"""Lanes that queue for one word: which word each lane of a request to shared memory updates."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from vgpu.base.words import plural
from vgpu.tools.steps.trace import Trace

MOST_PANELS = 4
FEWEST_COLUMNS = 8
_WORD = 4  # bytes


@styled
def atomic_queues(found: Sequence[Trace], titles: Sequence[str] = ()) -> Picture:
    """The first shared atomic of a warp, in up to four kernels: a column for each word, a square for each lane at it.

    found: what `results.steps.trace.trace` gives of each; titles: names of the panels, where those of the kernels do
    not tell. The longest queues stand on the left. ValueError for more kernels, for another number of titles, and for a
    kernel whose block makes no atomic on shared memory.
    """
    found = list(found)
    if not 1 <= len(found) <= MOST_PANELS:
        raise ValueError(f"this draws 1 to {MOST_PANELS} kernels, not {len(found)}")
    names = list(titles) or [each.kernel for each in found]
    if len(names) != len(found):
        raise ValueError(f"there are {len(names)} titles for {len(found)} kernels")
    queues = [_queues(each) for each in found]
    figure, panels = new("wide", layout=None, ncols=len(found), squeeze=False)
    left = 0.08  # room for the name of the upright axis and its numbers
    wide = (0.995 - left) / len(found)
    tallest = max(lanes[0] for lanes in queues)
    for number, (each, lanes, axes) in enumerate(zip(names, queues, panels[0], strict=True)):
        axes.set_position([left + number * wide, 0.1, wide - 0.02, 0.76])
        _panel(axes, lanes, tallest)
        axes.set_title(f"{each}: {plural(len(lanes), 'word')}", fontsize=9.5)
        if number:
            axes.set_yticks([])
    panels[0, 0].set_ylabel("lanes that update one word", fontsize=9)
    told = [
        f"{each}: {plural(sum(lanes), 'lane')} at {plural(len(lanes), 'word')}, the longest queue is {lanes[0]}"
        for each, lanes in zip(names, queues, strict=True)
    ]
    return Picture(figure, f"First shared atomic of warp 0. {'; '.join(told)}.")


def _queues(found: Trace) -> list[int]:
    """How many lanes of the first shared atomic of the first warp update each word, most first."""
    request = next((a for a in found.accesses if a.space == "shared" and a.op not in ("load", "store")), None)
    if request is None:
        raise ValueError(f"block {found.block_index} of {found.kernel} makes no atomic on shared memory")
    lanes: dict[int, int] = {}
    for active, address in zip(request.lanes, request.addresses, strict=True):
        if active:
            lanes[address // _WORD] = lanes.get(address // _WORD, 0) + 1
    return sorted(lanes.values(), reverse=True)


def _panel(axes, lanes: Sequence[int], tallest: int) -> None:
    for column, many in enumerate(lanes):
        hot = many == lanes[0] > 1
        colour = PALETTE["vermilion"] if hot else PALETTE["sky"]
        axes.bar([column] * many, 0.9, 0.86, [row + 0.05 for row in range(many)], color=[shade(colour, 0.75)],
                 edgecolor=colour, linewidth=0.6)  # fmt: skip
        if column == 0 or many < lanes[column - 1]:  # the first of each height says it
            axes.text(
                column, many + 0.3, str(many), ha="center", va="bottom", fontsize=9, weight="bold" if hot else None
            )
    axes.set(xlim=(-1, max(len(lanes), FEWEST_COLUMNS)), ylim=(0, tallest * 1.12 + 0.6), xticks=[])
    axes.set_xlabel("a column for each word", fontsize=9)
