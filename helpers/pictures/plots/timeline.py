"""A part of a schedule as a profiler of whole programs shows it: one window of time, one operation picked out."""

from __future__ import annotations

from dataclasses import replace

from helpers.pictures.figures import PALETTE, Picture
from helpers.pictures.plots.time import schedule_lanes
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.streams.spans import Schedule, Span


def window(schedule: Schedule, start: float, end: float) -> Schedule:
    """What of `schedule` lies between two times in seconds, counted from `start`.

    Spans outside stay as empty ones behind the end, so that every window has the same lanes and the same colours.
    """
    return replace(
        schedule,
        spans=tuple(_cut(span, start, end) for span in schedule.spans),
        host=tuple(_cut(span, start, end) for span in schedule.host),
        seconds=end - start,
    )


def _cut(span: Span, start: float, end: float) -> Span:
    if span.end <= start or span.start >= end:
        return replace(span, start=2 * (end - start), end=2 * (end - start))
    return replace(span, start=max(span.start, start) - start, end=min(span.end, end) - start)


def around(span: Span, seconds: float, zoom: float) -> tuple[float, float]:
    """The window of a schedule of so many seconds that shows 1/`zoom` of it, with `span` as near its middle as fits."""
    length = seconds / zoom
    start = min(max(0.0, (span.start + span.end - length) / 2), seconds - length)
    return start, start + length


def timeline_window(schedule: Schedule, number: int, zoom: float = 1, *, name: str = "") -> Picture:
    """The window around operation `number`, from 1 in the order they start, drawn as swim lanes with a band over it."""
    from matplotlib.ticker import MaxNLocator

    chosen = schedule.spans[number - 1]
    start, end = around(chosen, schedule.seconds, zoom)
    picture = schedule_lanes(window(schedule, start, end))
    axes = picture.figure.axes[0]
    left, right = axes.get_xlim()
    scale = (end - start) * 1.01 / (right - left)  # seconds of a unit of the axis, whichever it chose
    axes.axvspan(
        (max(chosen.start, start) - start) / scale, (min(chosen.end, end) - start) / scale,
        color=PALETTE["yellow"], alpha=0.35, lw=0, zorder=0,
    )  # fmt: skip
    ticks = MaxNLocator(8).tick_values(start / scale, end / scale)
    ticks = ticks[(ticks >= start / scale) & (ticks <= end / scale * 1.001)]
    axes.set_xticks(ticks - start / scale, [f"{tick:,.6g}" for tick in ticks])
    return Picture(picture.figure, _finding(schedule, number, start, end, name))


def _finding(schedule: Schedule, number: int, start: float, end: float, name: str) -> str:
    chosen = schedule.spans[number - 1]
    said = f"{name}: operation" if name else "Operation"
    shown = window(schedule, start, end)
    share = shown.busy("SMs") / shown.seconds
    seen = "the whole program" if end - start >= schedule.seconds * 0.999 else f"these {seconds_text(end - start)}"
    return (
        f"{said} {number} of {len(schedule.spans)}, on {_WHERE.get(chosen.engine, chosen.engine)}: {chosen.label}"
        f"{_details(chosen)} takes {seconds_text(chosen.end - chosen.start)} from {seconds_text(chosen.start)} on "
        f"({schedule.kind} on {schedule.gpu}). Some kernel runs in {share:.0%} of {seen}: so nvidia-smi defines "
        "utilisation."
    )


_WHERE = {"H2D": "the way to the GPU", "D2H": "the way back", "SMs": "the SMs"}


def _details(span: Span) -> str:
    if span.nbytes and span.engine != "SMs" and span.end > span.start:
        memory = {True: ", pinned", False: ", pageable", None: ""}[span.pinned]
        return f"{memory}, at {span.nbytes / (span.end - span.start) / 1e9:.3g} GB/s,"
    return ""
