"""Pictures of chapter 11: schedules of streams compared, and the blocks of a caching allocator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from helpers.pictures.figures import CYCLE, PALETTE, Picture, styled, subplots
from helpers.pictures.plots.common import check_count, shade
from helpers.pictures.plots.time import LANES, UNITS_OF_TIME, draw_lanes
from vgpu.base.words import plural
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.streams.order import stream_name
from vgpu.tools.streams.recording import Timeline
from vgpu.tools.streams.spans import WAITS, Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COMPARED = 3


@styled
def lanes_compared(schedules: Mapping[str, Schedule]) -> Picture:
    """Up to three schedules as swim lanes, one below the other, on one axis of time.

    schedules: by a name that stands above its lanes, what `schedule()` of a recording gives; all have the same lanes,
    so that an idle one shows. Raises ValueError for none, for more, and where some are measured and others modelled.
    """
    check_count(schedules, MOST_COMPARED, "schedules")
    found = list(schedules.values())
    if len({(each.kind, each.gpu) for each in found}) > 1:
        raise ValueError("the schedules are of different kinds or GPUs: measured and modelled times do not compare")
    figure, panels = subplots(len(found))
    longest = max(each.seconds for each in found)
    scale, unit = next(((s, u) for s, u in UNITS_OF_TIME if longest >= s), UNITS_OF_TIME[-1])
    width = max(longest / scale, 1e-9)
    per_letter = width / (7.0 * 0.83 * 72) * 5.2  # of the axis, at 8 points
    lanes = [lane for lane in LANES if lane == "host" or any(s.engine == lane for each in found for s in each.spans)]
    tall = 0.85 / len(found)
    for row, (name, each) in enumerate(schedules.items()):
        axes = panels[row, 0]
        axes.set_position((0.15, 0.97 - (row + 1) * tall + 0.02, 0.83, tall - 0.09))
        draw_lanes(axes, each, lanes, scale, width, per_letter)
        axes.set_title(f"{name}: {seconds_text(each.seconds)}", fontsize=9.5, pad=2)
        axes.tick_params(axis="y", labelsize=8.5, length=0)
        if row < len(found) - 1:
            axes.set_xticks([])
        else:
            axes.set_xlabel(f"{unit} ({each.kind} on {each.gpu}); hatched: the host waits", fontsize=9, labelpad=1)
            axes.tick_params(axis="x", labelsize=8.5)
    told = "; ".join(
        f"{name}: {seconds_text(each.seconds)}, SMs busy {each.busy('SMs') / max(each.seconds, 1e-12):.0%}, "
        f"{plural(sum(span.label != WAITS for span in each.host), 'call')} of the host"
        for name, each in schedules.items()
    )
    return Picture(figure, f"{told[0].upper()}{told[1:]} ({found[0].kind} on {found[0].gpu}).")


MOST_PROGRAMS = 2
MICRO = 1e-6
_LEFT, _WIDE, _HEAD, _BAR = 0.13, 0.85, 0.95, 0.72  # of the figure's width; of a row's height


@dataclass(frozen=True)
class _Use:
    """A kernel that works on a tensor: its block and stream, and in µs its request and its run."""

    tensor: str
    block: int
    stream: str
    asked: tuple[float, float]
    start: float
    end: float


@styled
def block_uses(programs: Mapping[str, Timeline], tensors: Sequence[str]) -> Picture:
    """Launches, kernels and memory blocks of up to two programs on one time axis.

    programs: by a name that stands above its rows, what `streams.dry_run` gives; it only launches kernels, each on one
    tensor. tensors: which one that is, for each kernel in the order of the requests. A tensor is deleted after the last
    request that uses it, and the last tensor is kept. A bar of a block is the time in which the allocator holds it for
    a tensor; hatched, it is kept back for a kernel. Red is where kernels use one block for two tensors at once.
    ValueError for other programs.
    """
    check_count(programs, MOST_PROGRAMS, "programs")
    schedules = {name: timeline.schedule() for name, timeline in programs.items()}
    found = {name: _uses(timeline, schedules[name], tensors) for name, timeline in programs.items()}
    until = 1.02 * max(use.end for uses in found.values() for use in uses)
    rows = {name: _rows(uses) for name, uses in found.items()}
    figure, panels = subplots(len(found))
    tall = 0.88 / sum(len(each) + _HEAD for each in rows.values())
    top, told = 1.0, []
    for axes, (name, uses) in zip(panels[:, 0], found.items(), strict=True):
        top -= tall * (len(rows[name]) + _HEAD)
        axes.set_position((_LEFT, top, _WIDE, tall * len(rows[name])))
        axes.set(xlim=(0, until), ylim=(len(rows[name]), 0), yticks=[at + 0.5 for at in range(len(rows[name]))])
        axes.set_yticklabels(rows[name], fontsize=8.5)
        axes.tick_params(axis="both", length=0, labelsize=8.5)
        axes.set_title(name, fontsize=9.5, loc="right", pad=3)
        told.append(f"{name}: {_drawn(axes, uses, rows[name], until)}")
    for axes in panels[:-1, 0]:
        axes.set_xticks([])
    last = next(iter(schedules.values()))
    panels[-1, 0].set_xlabel(f"µs ({last.kind} on {last.gpu})", fontsize=9, labelpad=1)
    words = "; ".join(told)
    return Picture(figure, f"{words[0].upper()}{words[1:]} ({last.kind} on {last.gpu}).")


def _uses(timeline: Timeline, schedule: Schedule, tensors: Sequence[str]) -> list[_Use]:
    operations = [step.operation for step in timeline.steps() if step.operation.kind not in ("record", "wait")]
    if [operation.kind for operation in operations] != ["kernel"] * len(tensors) or not tensors:
        raise ValueError(f"this draws kernels only, one for each of {plural(len(tensors), 'tensor')} that are named")
    requests = [span for span in schedule.host if span.label != WAITS]
    running: dict[str, list] = {}  # in one stream kernels run in the order in which they were launched
    for span in reversed(schedule.spans):
        running.setdefault(span.stream, []).append(span)
    blocks: dict[int, int] = {}
    found = []
    for tensor, operation, asked in zip(tensors, operations, requests, strict=True):
        address = int(operation.accesses[0].starts[0])
        block, ran = blocks.setdefault(address, len(blocks) + 1), running[stream_name(operation.queue)].pop()
        times = (asked.start / MICRO, asked.end / MICRO), ran.start / MICRO, ran.end / MICRO
        found.append(_Use(tensor, block, ran.stream, *times))
    return found


def _rows(uses: Sequence[_Use]) -> list[str]:
    blocks = [f"block {number}" for number in sorted({use.block for use in uses})]
    return ["host", *sorted({use.stream for use in uses}), *blocks]


def _drawn(axes: Axes, uses: Sequence[_Use], rows: Sequence[str], until: float) -> str:
    """One program, and what it shows in words."""
    names = list(dict.fromkeys(use.tensor for use in uses))
    colours = dict(zip(names, CYCLE, strict=False))
    for use in uses:
        _bar(axes, 0, use.asked, "asks", PALETTE["grey"])
        _bar(axes, rows.index(use.stream), (use.start, use.end), use.tensor, colours[use.tensor])
    told = []
    for tensor in names:
        mine = [use for use in uses if use.tensor == tensor]
        row, gone = rows.index(f"block {mine[0].block}"), mine[-1].asked[1]
        kept = tensor == names[-1]
        _bar(axes, row, (mine[0].asked[0], until if kept else gone), tensor, colours[tensor])
        if kept:
            told.append(f"{tensor} gets block {mine[0].block}")
            continue
        axes.plot([gone] * 2, [-0.1, len(rows)], color=PALETTE["ink"], lw=1, ls=":", zorder=4, clip_on=False)
        axes.text(gone, -0.15, f"del {tensor}", ha="center", va="bottom", fontsize=8)
        over = max(use.end for use in mine)
        if over > gone and all(use.block != mine[0].block for use in uses if use.tensor != tensor):
            _bar(axes, row, (gone, over), "kept back", PALETTE["grey"], hatch="////")
            told.append(f"block {mine[0].block} is kept back until {over:.3g} µs")
    for one, other in combinations(uses, 2):
        start, end = max(one.start, other.start), min(one.end, other.end)
        if one.block == other.block and one.tensor != other.tensor and start < end:
            at = sorted(rows.index(use.stream) for use in (one, other))
            axes.fill_between([start, end], at[0], at[1] + 1, fc="#d55e0055", ec=PALETTE["vermilion"], zorder=3)
            words = f"both kernels use block {one.block}"
            axes.text(
                end + until / 100, at[0] + 0.5, words, va="center", fontsize=8.5, color="#a83c00", fontweight="bold"
            )
            told.append(f"two kernels use it at once for {seconds_text(MICRO * (end - start))}")
    return ", and ".join(told)


def _bar(axes: Axes, row: int, span: tuple[float, float], words: str, colour: str, hatch: str | None = None) -> None:
    start, end = span
    look: dict[str, Any] = {"fc": shade(colour, 0.82), "ec": colour, "lw": 1.0, "hatch": hatch}
    axes.broken_barh([(start, end - start)], (row + (1 - _BAR) / 2, _BAR), **look)
    axes.text(
        (start + end) / 2, row + 0.5, words, ha="center", va="center", fontsize=8, zorder=5,
        bbox={"fc": shade(colour, 0.82), "ec": "none", "pad": 0.6},  # no line through the words
    )  # fmt: skip
