"""Ranks: what each does when, what it holds after a step of a collective, its memory, and how training scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.pictures.figures import CYCLE, DASHES, MARKERS, PALETTE, Drawing, Picture, new, styled
from helpers.pictures.plots.common import one_patch, shade
from helpers.pictures.plots.ink import PALE, Ink
from helpers.results.ranks.collectives import Moment, Send, Steps, after
from helpers.results.ranks.memory import STAGES, bytes_per_rank
from helpers.results.ranks.pipeline import bubble, most_kept
from helpers.results.ranks.spans import WAITING, RankSpan, waiting
from vgpu.base.words import plural
from vgpu.hardware.time_model import seconds_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "computes": "blue", "forward": "blue", "backward": "green", "all-reduce": "orange", WAITING: "mist",
    "forward 1": "blue", "forward 2": "sky", "backward 1": "green", "backward 2": "yellow",
    "sends": "orange", "receives": "yellow", "optimiser": "purple",
}  # fmt: skip
OTHERS = ("sky", "vermilion", "purple", "yellow")
HATCHES = {"backward": "///", "backward 1": "///", "backward 2": "\\\\\\", "all-reduce": "...", WAITING: ""}
MOST_NUMBERED = 72
IDLE = (WAITING, "all-reduce", "sends", "receives")


@styled
def rank_gantt(
    spans: Sequence[RankSpan], *, name: str = "", kind: str = "measured", until: float | None = None, unit: str = ""
) -> Picture:
    """A row for each rank, a box for each span, in the colour of its label; the numbers are micro-batches or steps.

    `kind`: where the times come from, such as "measured" or "modelled". `until`: seconds at which the axis ends.
    `unit`: a word for what one second stands for where the times are no seconds, such as "forward passes".
    """
    if not spans:
        raise ValueError("there is no span to draw: record some with `with ranks.span(…)`")
    figure, axes = new(left=0.09, right=0.98, top=0.86, bottom=0.16)
    _rows(axes, spans)
    count, end = 1 + max(each.rank for each in spans), until or max(each.end for each in spans)
    axes.set(xlim=(0, end), ylim=(count - 0.5, -0.5), yticks=range(count))
    axes.set_yticklabels([f"rank {rank}" for rank in range(count)], fontsize=9)
    axes.tick_params(axis="y", length=0)
    word, scale = (unit, 1.0) if unit else _scale(end)
    marks = [tick for tick in axes.get_xticks() if 0 <= tick <= end * 1.0001]
    axes.set_xticks(marks, [f"{tick / scale:g}" for tick in marks])
    axes.set_xlabel(f"{word} ({kind})")
    return Picture(figure, _told(spans, name, kind, unit))


def _scale(seconds: float) -> tuple[str, float]:
    return next(pair for pair in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if seconds >= pair[1] or pair[0] == "µs")


def _colours(spans: Sequence[RankSpan]) -> dict[str, str]:
    """A colour of the palette for each label, in the order in which they come."""
    found, spare = {}, iter(OTHERS * 20)
    for each in spans:
        if each.label not in found:
            found[each.label] = PALETTE[COLOURS.get(each.label) or next(spare)]
    return found


def _rows(axes: Axes, spans: Sequence[RankSpan]) -> None:
    looks = []
    for label, colour in _colours(spans).items():
        boxes = [(each.start, each.rank - 0.38, each.end, each.rank + 0.38) for each in spans if each.label == label]
        fill, edge = (colour, PALETTE["grey"]) if label == WAITING else (shade(colour, 0.72), colour)
        looks.append(one_patch(boxes, label=label, fc=fill, ec=edge, lw=0.7, hatch=HATCHES.get(label, "")))
        axes.add_patch(looks[-1])
    longest = max(each.end for each in spans)
    for each in spans:
        if each.part is not None and len(spans) <= MOST_NUMBERED and each.end - each.start > longest / 60:
            axes.text((each.start + each.end) / 2, each.rank, f"{each.part}", ha="center", va="center", fontsize=8.5,
                      bbox={"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.75})  # fmt: skip
    axes.legend(handles=looks, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5, fontsize=9, borderaxespad=0)


def _told(spans: Sequence[RankSpan], name: str, kind: str, unit: str) -> str:
    idle = waiting(spans, counted=IDLE)
    whole = max(each.end for each in spans) - min(each.start for each in spans)
    least, most = min(idle), max(idle)
    shares = f"{least:.0%}" if round(least, 2) == round(most, 2) else f"between {least:.0%} and {most:.0%}"
    took = f"{whole:g} {unit}" if unit else seconds_text(whole)
    who = f"{name}: " if name else ""
    return f"{who}{len(idle)} ranks in {took} ({kind}). A rank is idle for {shares} of that time."


@styled
def schedule_gantt(spans: Sequence[RankSpan], *, name: str, until: float | None = None) -> Picture:
    """The schedule of a pipeline, a row for each stage, with its bubble and what each stage keeps in words."""
    picture = rank_gantt(spans, name=name, kind="modelled", until=until, unit="forward passes of one micro-batch")
    stages = 1 + max(each.rank for each in spans)
    parts = len({each.part for each in spans})
    kept = most_kept(spans)
    keeps = f"{kept[0]}" if len(set(kept)) == 1 else f"at most {max(kept)}"
    words = (
        f"{name}, {stages} stages, {parts} micro-batches: the bubble is {bubble(spans):.1%} of the time, and a stage "
        f"keeps the activations of {keeps} micro-batches at once."
    )
    return Picture(picture.figure, words)


WIDTH, LEFT, TOP, FOOT = 860, 76, 58, 30
ROW, GAP = 34, 46
MOST_RANKS = 8
WHOLE, PART, FRESH = "#bfe3d3", "#ffffff", "#d55e00"
SHADES = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#7a7a7a", "#a89a00")


def collective_height(ranks: int) -> int:
    """Pixels of a drawing for so many ranks."""
    return TOP + ROW * ranks + FOOT


def collective_moment(steps: Steps, ranks: int, number: int, *, name: str = "all-reduce") -> Drawing:
    """What each rank holds of each chunk after step `number`; arrows show what the last step sent.

    A cell shows a small square for each rank whose numbers are in its sum; it is filled where the sum is whole.
    """
    if not 2 <= ranks <= MOST_RANKS:
        raise ValueError(f"2 to {MOST_RANKS} ranks can be drawn, not {ranks}")
    moment, ink = after(steps, ranks, number), Ink()
    column = (WIDTH - LEFT) / ranks
    last = list(steps[number - 1]) if number else []
    fresh = {(send.target, send.chunk) for send in last}
    ink.text(8, 18, f"{name}: {_where(number, len(steps))}", size=13, bold=True, mono=False)
    legend = "square: one rank's share of the sum · green: the sum is whole · orange frame: just received"
    ink.text(WIDTH - 8, 18, legend, size=10.5, ink=PALE,
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


def _arrow(ink: Ink, send: Send, column: float, ranks: int) -> None:
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
    done = f"{sum(whole)} of {ranks * ranks} chunks hold the complete sum"
    most, least = max(moment.sent), min(moment.sent)
    sent = f"each rank has sent {plural(most, 'chunk')}" if most == least else (
        f"rank {moment.sent.index(most)} has sent {plural(most, 'chunk')} and the least busy rank {least}"
    )  # fmt: skip
    return f"{name}, {_where(number, count)}: {done}; {sent}, and the tensor has {ranks} chunks."


GIB = 2**30
KINDS = {"parameters": ("blue", ""), "gradients": ("orange", "///"), "Adam": ("green", "...")}


def _gib(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


@styled
def rank_memory_bars(
    parameters: float,
    ranks: int,
    *,
    capacity: float | None = None,
    gpu: str = "",
    mixed: bool = True,
    most: float = 0.0,
) -> Picture:
    """A bar for each stage of sharding: bytes of a rank for parameters, gradients and Adam's states.

    `capacity`: bytes of the GPU called `gpu`, a line across. `most`: bytes where the axis ends, at least.
    """
    figure, axes = new(left=0.3, right=0.97, top=0.86, bottom=0.16)
    totals = []
    for row, stage in enumerate(STAGES):
        left = 0.0
        for kind, nbytes in bytes_per_rank(parameters, ranks, stage, mixed=mixed).items():
            name, hatch = KINDS[kind]
            axes.barh(row, nbytes / GIB, left=left, color=shade(PALETTE[name], 0.7), ec=PALETTE[name], hatch=hatch,
                      height=0.62, label=kind if row == 0 else None)  # fmt: skip
            left += nbytes / GIB
        totals.append(left)
        axes.annotate(_gib(left), (left, row), (5, 0), textcoords="offset points", va="center", fontsize=9)
    end = 1.14 * max(*totals, (capacity or 0) / GIB, most / GIB)
    axes.set(xlim=(0, end), ylim=(len(STAGES) - 0.5, -0.5), yticks=range(len(STAGES)))
    axes.set_yticklabels([words.replace(" (", "\n(") for words in STAGES.values()], fontsize=9)
    axes.set_xlabel("GiB on each rank (calculated; activations come on top)")
    if capacity:
        axes.axvline(capacity / GIB, color=PALETTE["ink"], lw=1.2, ls="--", label=f"memory of {gpu}")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1.0), ncols=4, fontsize=9, borderaxespad=0)  # wider than the axes
    fits = [stage for stage, total in zip(STAGES, totals, strict=True) if capacity and total * GIB <= capacity]
    room = ""
    if capacity:
        room = f" On {gpu} they fit from stage {fits[0]} on." if fits else f" On {gpu} they fit at no stage."
    told, across = ", ".join(map(_gib, totals)), plural(ranks, "rank")
    return Picture(
        figure,
        f"{parameters / 1e9:.3g} billion parameters on {across} take {told} GiB each at stages 0 to 3.{room}",
    )


@styled
def scaling_curves(
    ranks: Sequence[int],
    curves: Mapping[str, Sequence[float]],
    *,
    published: Mapping[str, tuple[int, float]] | None = None,
    title: str = "",
) -> Picture:
    """Efficiency over the number of ranks, a line each; `published`: points (ranks, efficiency) by who says so."""
    figure, axes = new(left=0.13, right=0.7, top=0.9, bottom=0.16)
    for number, (name, values) in enumerate(curves.items()):
        axes.plot(ranks, values, color=CYCLE[number], ls=DASHES[number], lw=2, label=name)
    for number, (name, (count, value)) in enumerate((published or {}).items()):
        axes.plot([count], [value], marker=MARKERS[number], ms=8, color=PALETTE["ink"], ls="none",
                  mfc="none", mew=1.6, label=f"{name},\npublished")  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set(xlim=(ranks[0], ranks[-1]), ylim=(0, 1.05), xlabel="ranks", title=title)
    marks = [count for count in ranks if count in (1, 4, 16, 64, 256, 1024, 4096)]
    axes.set_xticks(marks, [f"{count:,}" for count in marks])
    axes.minorticks_off()
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("efficiency (modelled)")
    axes.grid(axis="y")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8.5, borderaxespad=0, handlelength=2.4)
    told = "; ".join(f"{name} {values[-1]:.0%}" for name, values in curves.items())
    seen = "; ".join(f"{name}: {value:.0%} at {count}" for name, (count, value) in (published or {}).items())
    return Picture(
        figure, f"Modelled efficiency at {ranks[-1]:,} ranks: {told}.{' Published: ' + seen + '.' if seen else ''}"
    )
