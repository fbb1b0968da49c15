"""The order that streams and events guarantee in a recording, and what nothing orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.pictures.plots.common import check_count, shade
from vgpu.base.words import plural
from vgpu.tools.streams.order import Hazard, Ordered, stream_name
from vgpu.tools.streams.recording import Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_OPERATIONS = 12
_WORDS = {"H2D": "copy in", "D2H": "copy back", "synchronise": "waits", "host read": "reads", "host write": "writes"}
_UNSEEN = ("record", "wait")  # events are drawn as arrows
_HALF, _TALL = 0.41, 0.3  # of a column's width, and of a row's height: from the middle of a box to its edges


@styled
def stream_order(timeline: Timeline) -> Picture:
    """The order that streams and events guarantee in a recording; what nothing orders is red.

    timeline: what `streams.dry_run` or, on the virtual GPU, `streams.record` gives. An arrow crosses from what
    has to be over to what waits for it; a red, dashed line joins two operations that touch the same bytes, one of them
    writing, and that nothing orders. Raises ValueError for no operation, and for more than fit.
    """
    steps = timeline.steps()
    shown = [number for number, step in enumerate(steps) if step.operation.kind not in _UNSEEN]
    check_count(shown, MOST_OPERATIONS, "operations")
    rows = sorted({_row(steps[number]) for number in shown}, key=lambda name: (name != "the host", name))
    places = {number: (column, rows.index(_row(steps[number]))) for column, number in enumerate(shown)}
    figure, axes = new(place=(0.2, 0.04, 0.79, 0.84))
    axes.set(xlim=(-0.55, max(len(shown), 4) - 0.4), ylim=(len(rows) - 0.45, -0.55))
    axes.axis("off")
    for row, name in enumerate(rows):
        axes.plot([-0.5, max(len(shown), 4) - 0.45], [row, row], color=PALETTE["mist"], lw=5, zorder=0)
        axes.text(-0.62, row, name, ha="right", va="center", fontsize=9)
    crossing = [
        (before, number)
        for number in shown
        for before in _behind(steps, number)
        if places[before][1] != places[number][1]
    ]
    for before, number in crossing:
        _arrow(axes, places[before], places[number], PALETTE["ink"], "-|>", "-", 1.6)
    hazards = timeline.hazards()
    for one, other in (hazard.numbers for hazard in hazards):
        _arrow(axes, places[one], places[other], PALETTE["vermilion"], "-", (0, (4, 3)), 2.2)
    for number in shown:
        _box(axes, steps[number], *places[number], rows)
    key = "grey: a stream's own order, from left to right · arrow: has to wait"
    figure.text(0.01, 0.94, key + " · red: no order" * bool(hazards), fontsize=9)
    return Picture(figure, _finding(steps, shown, rows, crossing, hazards))


def _row(step: Ordered) -> str:
    return stream_name(step.operation.queue) if step.host == "issues" else "the host"


def _behind(steps: Sequence[Ordered], number: int) -> set[int]:
    """The operations that are drawn and that this one follows, through events that are not."""
    found: set[int] = set()
    for before in steps[number].follows:
        found |= _behind(steps, before) if steps[before].operation.kind in _UNSEEN else {before}
    return found


def _name(step: Ordered) -> str:
    operation = step.operation
    return _WORDS.get(operation.kind) or (operation.label or operation.kind).split(" (")[0]


def _box(axes: Axes, step: Ordered, column: int, row: int, rows: Sequence[str]) -> None:
    host = rows[row] == "the host"
    streams = [name for name in rows if name != "the host"]
    colour = PALETTE["grey"] if host else CYCLE[streams.index(rows[row])]
    axes.add_patch(
        FancyBboxPatch(
            (column - _HALF, row - _TALL / 2), 2 * _HALF, _TALL, boxstyle="round,pad=0,rounding_size=0.06",
            zorder=4, fc=shade(colour, 0.82), ec=colour, lw=1.2, hatch="////" if host else None,
        )
    )  # fmt: skip
    name = _name(step)
    axes.text(
        column, row, name, ha="center", va="center", fontsize=9 if len(name) < 9 else 7.5, zorder=5,
        bbox={"fc": shade(colour, 0.82), "ec": "none", "pad": 0.6} if host else None,
    )  # fmt: skip


def _arrow(
    axes: Axes, start: tuple[int, int], end: tuple[int, int], colour: str, head: str,
    dash: str | tuple[int, tuple[int, ...]], width: float,
) -> None:  # fmt: skip
    """A line between the boxes at two places: from the one's edge to the other's."""
    if start[1] == end[1]:
        ends, bend = ((start[0], start[1] - _TALL / 2), (end[0], end[1] - _TALL / 2)), 0.35
    else:
        down = 1 if end[1] > start[1] else -1
        ends, bend = ((start[0], start[1] + down * _TALL / 2), (end[0], end[1] - down * _TALL / 2)), 0.0
    axes.add_patch(
        FancyArrowPatch(
            *ends, arrowstyle=head, mutation_scale=14, connectionstyle=f"arc3,rad={-bend}", color=colour, lw=width,
            ls=dash, shrinkA=0, shrinkB=1, zorder=3,
        )
    )  # fmt: skip


def _finding(
    steps: Sequence[Ordered], shown: Sequence[int], rows: Sequence[str], crossing: Sequence[tuple[int, int]],
    hazards: Sequence[Hazard],
) -> str:  # fmt: skip
    def where(number: int) -> str:
        row = _row(steps[number])
        return row if row == "the host" else f"{_name(steps[number])} in {row}"

    streams = sum(name != "the host" for name in rows)
    told = f"{plural(len(shown), 'operation')} in {plural(streams, 'stream')}. "
    waits = "; ".join(f"{where(number)} waits for {where(before)}" for before, number in crossing)
    told += f"Across streams: {waits}. " if waits else "Nothing is ordered across streams. "
    missing = "; ".join(f"{where(one)} and {where(other)}" for one, other in (hazard.numbers for hazard in hazards))
    return told + (f"Unordered conflicts: {missing}." if missing else "No unordered conflicts.")
