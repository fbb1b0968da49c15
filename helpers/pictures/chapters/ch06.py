"""Pictures of chapter 6: atomics that contend for one word, the order of warps and of blocks, and fences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from helpers.pictures.figures import PALETTE, Picture, styled, subplots
from helpers.pictures.plots.common import check_count, shade
from vgpu.base.words import plural
from vgpu.tools.steps.recording import Recording
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
        _box(axes, at, turn.warp, turn.op)
    for at in found.opened:
        axes.axvline(at + 1, color=PALETTE["purple"], lw=2.5)
    for each in _drawn(found):
        writer, reader = each.warps
        _arrow(axes, (each.written + 0.5, writer + 0.5), (each.read + 0.5, reader + 0.5), early=each.early)
    axes.set(xlim=(0, max(len(found.turns), 1)), ylim=(found.warps, 0), xticks=[])
    axes.set_yticks([warp + 0.5 for warp in range(found.warps)])
    axes.set_yticklabels([f"warp {warp}" for warp in range(found.warps)], fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
    read = f"{found.early} of {len(found.handovers)} elements read too early"
    axes.set_title(f"{found.kernel}: {read}", fontsize=9.5, pad=4)


def _box(axes: Axes, at: int, row: int, op: str) -> None:
    """A time slice of a warp or a block."""
    colour = PALETTE[_COLOURS[op]]
    axes.barh(row + 0.12, 0.92, 0.76, at + 0.04, align="edge", color=[shade(colour, 0.75)], edgecolor=colour,
              linewidth=0.8)  # fmt: skip


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], *, early: bool) -> None:
    """From what comes first in the source to what has to follow; dashed where nothing sees to that."""
    look = {"color": PALETTE["vermilion"], "ls": "--"} if early else {"color": PALETTE["green"], "ls": "-"}
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "lw": 1.6, "shrinkA": 0, "shrinkB": 0, **look})


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


Element = tuple[str | None, int]
"""An array and an offset in it."""


@styled
def block_turns(found: Mapping[str, Sequence[Sequence[Trace]]]) -> Picture:
    """Blocks that run one after another: which elements one block reads before another has written them.

    found: by title, the launches, each as the traces of all its blocks in the order of their numbers. An arrow leads
    from the block that writes elements to the one that reads them, dashed where it reads them too early; a thick line
    is the end of a launch. ValueError for no title, or more than three.
    """
    check_count(found, MOST_PANELS, "panels")
    figure, panels = subplots(1, len(found), left=0.09, right=0.99, top=0.88, bottom=0.16, wspace=0.08)
    figure.set_size_inches(7.0, 2.2)
    told = []
    for axes, (title, launches) in zip(panels[0], found.items(), strict=True):
        early, handed = _blocks_panel(axes, launches)
        axes.set_title(f"{title}: {early} of {handed} read too early", fontsize=9, pad=4)
        told.append(f"{title}: blocks read {handed} elements that others write, {early} of them too early")
        if axes is not panels[0, 0]:
            axes.set_yticks([])
    figure.text(
        0.09, 0.04, "orange: writes · blue: reads · thick line: a launch ends · time runs to the right", fontsize=8.5,
        va="center",
    )  # fmt: skip
    return Picture(figure, f"Blocks one after another. {'; '.join(told)}.")


def _blocks_panel(axes: Axes, launches: Sequence[Sequence[Trace]]) -> tuple[int, int]:
    """Draw the blocks of some launches in time; how many elements are read too early, and how many are handed over."""
    blocks = [(number, block, each) for number, traces in enumerate(launches) for block, each in enumerate(traces)]
    writer = {element: block for _, block, each in blocks for element in _elements(each, "store")}
    loaded = [{e for e in _elements(each, "load") if writer.get(e, block) != block} for _, block, each in blocks]
    handed = set().union(*loaded)
    written: dict[Element, tuple[int, int]] = {}
    read: dict[Element, tuple[int, int]] = {}
    at, launch = 0, 0
    for (number, block, each), wanted in zip(blocks, loaded, strict=True):
        if number > launch:
            axes.axvline(at, color=PALETTE["purple"], lw=2.5)
            launch = number
        for op, elements, table in (
            (WRITES, handed.intersection(_elements(each, "store")), written),
            (READS, wanted, read),
        ):
            if elements:
                _box(axes, at, block, op)
                table.update(dict.fromkeys(elements, (at, block)))
                at += 1
    for (begin, giver), (end, taker) in sorted({(written[element], place) for element, place in read.items()}):
        _arrow(axes, (begin + 0.5, giver + 0.5), (end + 0.5, taker + 0.5), early=end < begin)
    tall = 1 + max(block for _, block, _ in blocks)
    axes.set(xlim=(0, at), ylim=(tall, 0), xticks=[])
    axes.set_yticks([block + 0.5 for block in range(tall)], [f"block {block}" for block in range(tall)], fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
    return sum(place < written[element] for element, place in read.items()), len(read)


def _elements(found: Trace, op: str) -> Iterator[Element]:
    """The elements of global memory that a block loads or stores."""
    for access in found.accesses:
        if (access.space, access.op) == ("global", op):
            yield from (
                (access.array, address) for address, on in zip(access.addresses, access.lanes, strict=True) if on
            )


FENCES = ("membar", "fence")
_LOOKS = {"writes": "orange", "atomic on": "green", "fence": "purple", "reads": "sky"}
_EVENT_WIDE, _EVENT_TALL, _EVENT_APART = 2.3, 0.62, 2.7


@styled
def fence_paths(found: Sequence[tuple[Recording, Recording]], data: str, flag: str) -> Picture:
    """What makes one block's write visible to another: fences and an atomic, in up to three kernels.

    found: for each kernel, recordings of the block that writes `data`, and of the one that reads it after an atomic on
    `flag`. Dashed arrows are steps of one thread whose order other threads may see reversed, as no fence is between.
    ValueError for no kernel, or more than three.
    """
    check_count(found, MOST_PANELS, "kernels")
    figure, panels = subplots(1, len(found), left=0.01, right=0.99, top=0.86, bottom=0.02, wspace=0.04)
    figure.set_size_inches(7.0, 3.1)
    told = []
    tall = 0.0
    for axes, (writes, reads) in zip(panels[0], found, strict=True):
        gives, takes = _events(writes, data, flag), _events(reads, data, flag)
        atomic = f"atomic on {flag}"
        meet = gives.index(atomic)
        for each, events, corner in (
            (writes, gives, (0.0, 0.0)),
            (reads, takes[takes.index(atomic) :], (_EVENT_APART, meet)),
        ):
            _event_column(axes, f"block {each.block_index[0]}", events, corner)
            tall = max(tall, corner[1] + len(events))
        middle = meet + _EVENT_TALL / 2
        _arrow(axes, (_EVENT_WIDE, middle), (_EVENT_APART, middle), early=False)
        axes.axis("off")
        axes.set_title(writes.kernel, fontsize=9.5)
        fenced = "fence" in gives[:meet] and "fence" in takes[takes.index(atomic) :]
        told.append(
            f"{writes.kernel}: {'fences order' if fenced else 'nothing orders'} the write of {data} before its read"
        )
    for axes in panels[0]:
        axes.set(xlim=(-0.05, _EVENT_APART + _EVENT_WIDE + 0.05), ylim=(tall - 0.3, -0.6))
    figure.text(
        0.01, 0.955, "solid arrow: ordered for all threads · dashed: other threads may see it reversed", fontsize=8.5
    )
    return Picture(figure, f"{'; '.join(told)}.")


def _events(found: Recording, data: str, flag: str) -> list[str]:
    """What the first thread of a block does to two arrays, and its fences, in order; repeated steps are one."""
    events: list[str] = []
    for step in found.of(0):
        told = ["fence"] if step.instruction.lstrip("@%!p0123456789 ").startswith(FENCES) else [
            f"{_DEEDS.get(each.access.op, 'atomic on')} {each.access.array}"
            for each in step.touched if each.access.array in (data, flag)
        ]  # fmt: skip
        events += [each for each in told if events[-1:] != [each]]
    return events


_DEEDS = {"load": "reads", "store": "writes"}


def _event_column(axes: Axes, name: str, events: Sequence[str], corner: tuple[float, float]) -> None:
    """What one block does, from top to bottom; an arrow for each order, dashed where no fence is beside it."""
    x, y = corner
    middle = x + _EVENT_WIDE / 2
    axes.text(middle, y - 0.25, name, ha="center", fontsize=9, weight="bold")
    for row, event in enumerate(events):
        _event(axes, (x, y + row), event)
    for row, both in enumerate(pairwise(events)):
        _arrow(axes, (middle, y + row + _EVENT_TALL), (middle, y + row + 1), early="fence" not in both)


def _event(axes: Axes, corner: tuple[float, float], words: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    colour = PALETTE[next(look for start, look in _LOOKS.items() if words.startswith(start))]
    axes.add_patch(FancyBboxPatch(corner, _EVENT_WIDE, _EVENT_TALL, boxstyle="round,pad=0,rounding_size=0.08",
                                  fc=shade(colour, 0.85), ec=colour, lw=0.9))  # fmt: skip
    axes.text(corner[0] + _EVENT_WIDE / 2, corner[1] + _EVENT_TALL / 2, words, ha="center", va="center", fontsize=8.5)
