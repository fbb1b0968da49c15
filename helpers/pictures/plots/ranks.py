"""Ranks over time: what each is busy with, when it waits, and how a pipeline fills."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from helpers.results.ranks.pipeline import bubble, most_kept
from helpers.results.ranks.spans import WAITING, RankSpan, waiting
from vgpu.hardware.time_model import seconds_text

COLOURS = {
    "computes": "blue", "forward": "blue", "backward": "green", "all-reduce": "orange", WAITING: "mist",
    "sends": "orange", "receives": "yellow", "optimiser": "purple",
}  # fmt: skip
OTHERS = ("sky", "vermilion", "purple", "yellow")
HATCHES = {"backward": "///", "all-reduce": "...", WAITING: ""}
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
    figure, axes = new("wide", layout=None)
    figure.subplots_adjust(left=0.09, right=0.98, top=0.86, bottom=0.16)
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


def _rows(axes, spans: Sequence[RankSpan]) -> None:
    from matplotlib.patches import Patch, PathPatch
    from matplotlib.path import Path

    looks = []
    for label, colour in _colours(spans).items():
        fill = colour if label == WAITING else shade(colour, 0.72)
        look = {"fc": fill, "ec": PALETTE["grey"] if label == WAITING else colour, "lw": 0.7}
        look |= {"hatch": HATCHES.get(label, "")}
        boxes = [_box(each) for each in spans if each.label == label]
        axes.add_patch(PathPatch(Path.make_compound_path(*boxes), **look))
        looks.append(Patch(label=label, **look))
    longest = max(each.end for each in spans)
    for each in spans:
        if each.part is not None and len(spans) <= MOST_NUMBERED and each.end - each.start > longest / 60:
            axes.text((each.start + each.end) / 2, each.rank, f"{each.part}", ha="center", va="center", fontsize=8.5,
                      bbox={"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.75})  # fmt: skip
    axes.legend(handles=looks, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5, fontsize=9, borderaxespad=0)


def _box(each: RankSpan):
    from matplotlib.path import Path

    low, high = each.rank - 0.38, each.rank + 0.38
    return Path(
        [(each.start, low), (each.start, high), (each.end, high), (each.end, low), (each.start, low)], closed=True
    )


def _told(spans: Sequence[RankSpan], name: str, kind: str, unit: str) -> str:
    idle = waiting(spans, counted=IDLE)
    whole = max(each.end for each in spans) - min(each.start for each in spans)
    least, most = min(idle), max(idle)
    shares = f"{least:.0%}" if round(least, 2) == round(most, 2) else f"between {least:.0%} and {most:.0%}"
    took = f"{whole:g} {unit}" if unit else seconds_text(whole)
    who = f"{name}: " if name else ""
    return f"{who}{len(idle)} ranks in {took} ({kind}). A rank is not at work for {shares} of that time."


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
