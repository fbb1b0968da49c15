"""Pictures of chapter 6: atomics that contend for one word, and interleavings of warps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from helpers.pictures.figures import PALETTE, Picture, styled, subplots
from helpers.pictures.plots.common import check_count, shade
from vgpu.base.words import plural
from vgpu.tools.steps.trace import Trace
from vgpu.tools.steps.turns import ARRIVES, READS, WRITES, HandOver, Turns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_QUEUES = 4
FEWEST_COLUMNS = 8
_WORD = 4  # bytes


@styled
def atomic_queues(found: Sequence[Trace], titles: Sequence[str] = ()) -> Picture:
    """The first shared-memory atomic of a warp in up to four kernels: one column per word, one square per lane.

    found: what `results.steps.trace.trace` gives of each; titles: names of the panels, where those of the kernels do
    not tell. The longest queues stand on the left. ValueError for more kernels, for another number of titles, and for a
    kernel whose block makes no atomic on shared memory.
    """
    found = list(found)
    check_count(found, MOST_QUEUES, "kernels")
    names = list(titles) or [each.kernel for each in found]
    if len(names) != len(found):
        raise ValueError(f"there are {len(names)} titles for {len(found)} kernels")
    queues = [_queues(each) for each in found]
    figure, panels = subplots(1, len(found))
    left = 0.08  # room for the name of the upright axis and its numbers
    wide = (0.995 - left) / len(found)
    tallest = max(lanes[0] for lanes in queues)
    for number, (each, lanes, axes) in enumerate(zip(names, queues, panels[0], strict=True)):
        axes.set_position((left + number * wide, 0.1, wide - 0.02, 0.76))
        _queue_panel(axes, lanes, tallest)
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


def _queue_panel(axes: Axes, lanes: Sequence[int], tallest: int) -> None:
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


MOST_TURNS, MOST_PANELS = 60, 3
_COLOURS = {WRITES: "orange", READS: "sky", ARRIVES: "purple"}
_TALL, _HEAD = 0.24, 0.34  # inches for a warp, and above the first


@styled
def warp_turns(found: Sequence[Turns]) -> Picture:
    """How warps interleave their accesses to shared memory, time slice by time slice, in up to three kernels.

    found: what `results.steps.turns.turns` gives. An arrow leads from the turn that writes an element to the turn of
    another warp that reads it, one for each pair of warps: a solid one where the element came in time, a broken one
    that runs backwards where it was read too early. A hatched bar waits; a thick line is a barrier that opens.
    ValueError for more kernels, or for more turns than can be told apart.
    """
    found = list(found)
    if not 1 <= len(found) <= MOST_PANELS or max(len(each.turns) for each in found) > MOST_TURNS:
        raise ValueError(
            f"this draws 1 to {MOST_PANELS} kernels with at most {MOST_TURNS} turns each: take fewer warps or another "
            f"seed; given are {[len(each.turns) for each in found]} turns"
        )
    figure, panels = subplots(len(found))
    heights = [_HEAD + _TALL * each.warps for each in found]
    height = sum(heights) + 0.3
    figure.set_size_inches(7.0, height)
    top = height
    for each, axes, tall in zip(found, panels[:, 0], heights, strict=True):
        axes.set_position((0.09, (top - tall) / height, 0.9, (tall - _HEAD) / height))
        _turns_panel(axes, each)
        top -= tall
    figure.text(
        0.09, 0.1 / height, "orange: writes · blue: reads · purple: arrives at a barrier · hatched: waits there",
        fontsize=8.5, va="center",
    )  # fmt: skip
    return Picture(figure, f"{'; '.join(map(_finding, found))}.")


def _turns_panel(axes: Axes, found: Turns) -> None:
    for start, warp, end in _waits(found):
        axes.barh(warp + 0.12, end - start, 0.76, start, align="edge", color="none", edgecolor=PALETTE["purple"],
                  hatch="////", linewidth=0)  # fmt: skip
    for at, turn in enumerate(found.turns):
        colour = PALETTE[_COLOURS[turn.op]]
        axes.barh(turn.warp + 0.12, 0.92, 0.76, at + 0.04, align="edge", color=[shade(colour, 0.75)], edgecolor=colour,
                  linewidth=0.8)  # fmt: skip
    for at in found.opened:
        axes.axvline(at + 1, color=PALETTE["purple"], lw=2.5)
    for each in _drawn(found):
        writer, reader = each.warps
        colour = PALETTE["vermilion"] if each.early else PALETTE["green"]
        axes.annotate(
            "", (each.read + 0.5, reader + 0.5), (each.written + 0.5, writer + 0.5),
            arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6, "ls": "--" if each.early else "-",
                        "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
    axes.set(xlim=(0, max(len(found.turns), 1)), ylim=(found.warps, 0), xticks=[])
    axes.set_yticks([warp + 0.5 for warp in range(found.warps)])
    axes.set_yticklabels([f"warp {warp}" for warp in range(found.warps)], fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
    read = f"{found.early} of {len(found.handovers)} elements read too early"
    axes.set_title(f"{found.kernel}: {read}", fontsize=9.5, pad=4)


def _waits(found: Turns) -> list[tuple[int, int, int]]:
    """(from, warp, until) for each stay at a barrier of the block: from the warp's last arrival to its opening."""
    spans = []
    begin = 0
    for end in found.opened:
        last = {found.turns[at].warp: at for at in range(begin, end + 1) if found.turns[at].op == ARRIVES}
        spans += [(at + 1, warp, end + 1) for warp, at in last.items() if at < end]
        begin = end + 1
    return spans


def _drawn(found: Turns) -> list[HandOver]:
    """One hand-over for each pair of different warps, an early one before others."""
    first: dict[tuple[int, int], HandOver] = {}
    for each in sorted(found.handovers, key=lambda each: not each.early):
        if each.warps[0] != each.warps[1]:
            first.setdefault(each.warps, each)
    return list(first.values())


def _finding(found: Turns) -> str:
    barrier = f", with {plural(len(found.opened), 'barrier')} of the block" if found.opened else ""
    return (
        f"{found.kernel}{barrier}: of {plural(len(found.handovers), 'element')} that one thread writes and another "
        f"reads, {found.early} {'is' if found.early == 1 else 'are'} read too early"
    )
