"""Chunks on ranks: what each holds after a number of steps of a collective, and what was just sent."""

from __future__ import annotations

from helpers.pictures.figures import PALETTE, Drawing
from helpers.pictures.plots.ink import PALE, Ink
from helpers.results.ranks.collectives import Moment, Steps, after
from vgpu.base.words import plural

WIDTH, LEFT, TOP, FOOT = 860, 76, 58, 30
ROW, GAP = 34, 46
MOST_RANKS = 8
WHOLE, PART, FRESH = "#bfe3d3", "#ffffff", "#d55e00"
SHADES = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#7a7a7a", "#a89a00")


def collective_height(ranks: int) -> int:
    """Pixels of a drawing for so many ranks."""
    return TOP + ROW * ranks + FOOT


def collective_moment(steps: Steps, ranks: int, number: int, *, name: str = "all-reduce") -> Drawing:
    """A column for each rank and a row for each chunk, after `number` of the steps; arrows are what the last one sent.

    A cell shows a small square for each rank whose numbers are in its sum; it is filled where the sum is whole.
    """
    if not 2 <= ranks <= MOST_RANKS:
        raise ValueError(f"2 to {MOST_RANKS} ranks can be drawn, not {ranks}")
    moment, ink = after(steps, ranks, number), Ink()
    column = (WIDTH - LEFT) / ranks
    last = list(steps[number - 1]) if number else []
    fresh = {(send.target, send.chunk) for send in last}
    ink.text(8, 18, f"{name}: {_where(number, len(steps))}", size=13, bold=True, mono=False)
    ink.text(WIDTH - 8, 18, "a square is one rank's share of the sum · green: the sum is whole", size=10.5, ink=PALE,
             mono=False, anchor="end")  # fmt: skip
    for rank in range(ranks):
        ink.text(LEFT + column * rank + (column - GAP) / 2, 44, f"rank {rank}", size=11, mono=False, anchor="middle",
                 ink=SHADES[rank], bold=True)  # fmt: skip
        for chunk in range(ranks):
            _cell(ink, moment, rank, chunk, (rank, chunk) in fresh, column, ranks)
    for chunk in range(ranks):
        ink.text(8, TOP + ROW * chunk + 18, f"chunk {chunk}", size=10.5, mono=False)
    for send in last:
        _arrow(ink, send, column, ranks)
    foot = "chunks sent: " + " · ".join(f"rank {rank}: {sent}" for rank, sent in enumerate(moment.sent))
    ink.text(8, TOP + ROW * ranks + 18, foot, size=10.5, mono=False)
    return ink.drawing(_finding(moment, name, number, len(steps), ranks), WIDTH, collective_height(ranks))


def _where(number: int, count: int) -> str:
    return f"before step 1 of {count}" if number == 0 else f"after step {number} of {count}"


def _cell(ink: Ink, moment: Moment, rank: int, chunk: int, fresh: bool, column: float, ranks: int) -> None:
    held = moment.held[rank][chunk]
    x, y, width = LEFT + column * rank, TOP + ROW * chunk, column - GAP
    edge, line = (FRESH, 2.2) if fresh else ("#9a9a9a", 1.0)
    ink.box(x, y, width, ROW - 8, WHOLE if len(held) == ranks else PART, edge, line=line)
    each = (width - 6) / ranks
    for source in sorted(held):
        ink.box(x + 3 + each * source + 0.5, y + 6, each - 1, ROW - 20, SHADES[source])


def _arrow(ink: Ink, send, column: float, ranks: int) -> None:
    """From the sender's cell to the receiver's; one that goes backwards leaves at the right."""
    y = TOP + ROW * send.chunk + (ROW - 8) / 2
    start, end = LEFT + column * (send.source + 1) - GAP + 2, LEFT + column * send.target - 3
    if send.target == (send.source + 1) % ranks and send.target == 0:
        _line(ink, start, y, start + GAP - 8, y)
        _line(ink, LEFT - 16, y, LEFT - 3, y)
    elif send.target > send.source:
        _line(ink, start, y, end, y)
    else:
        _line(ink, LEFT + column * send.source - 2, y, LEFT + column * (send.target + 1) - GAP + 3, y)


def _line(ink: Ink, x1: float, y1: float, x2: float, y2: float) -> None:
    tip = 5 if x2 > x1 else -5
    ink.parts.append(
        f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}M{x2 - tip:.1f} {y2 - 4:.1f}L{x2:.1f} {y2:.1f}L{x2 - tip:.1f} '
        f'{y2 + 4:.1f}" stroke="{PALETTE["vermilion"]}" stroke-width="1.8" fill="none"/>'
    )


def _finding(moment: Moment, name: str, number: int, count: int, ranks: int) -> str:
    whole = [sum(len(held) == ranks for held in row) for row in moment.held]
    done = f"{sum(whole)} of {ranks * ranks} chunks hold the whole sum"
    most, least = max(moment.sent), min(moment.sent)
    sent = f"each rank has sent {plural(most, 'chunk')}" if most == least else (
        f"rank {moment.sent.index(most)} has sent {plural(most, 'chunk')} and the least busy rank {least}"
    )  # fmt: skip
    return f"{name}, {_where(number, count)}: {done}; {sent}, where a message has {ranks} chunks."
