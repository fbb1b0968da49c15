"""Changes to a training step: all of a log as bars, or two versions by their lanes of time and what they ask for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from helpers.pictures.figures import PALETTE, Picture, styled, subplots
from helpers.pictures.plots.common import shade
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.streams.spans import WAITS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from helpers.results.step_log import Version
    from vgpu.tools.streams.spans import Schedule, Span

LANES = {"host": "host", "H2D": "to the GPU", "SMs": "SMs", "D2H": "to the host"}
_COLOURS = {"host": "blue", "H2D": "green", "SMs": "orange", "D2H": "purple"}
NARROWEST = 1 / 700  # of the axis: what is shorter is drawn as long as this
BARS = {
    "launches": lambda version: version.launches,
    "bytes to the GPU": lambda version: version.copied("H2D"),
    "waits of the host": lambda version: version.waits,
    "bytes of DRAM": lambda version: version.dram_bytes,
    "bytes requested from L2": lambda version: version.l2_bytes,
}
"""What is drawn as bars, by its name: counts of a whole run."""


CHANGES = (7.0, 4.4)  # inches of a picture of two versions


@styled
def change_lanes(before: Version, after: Version) -> Picture:
    """Two versions of a training step: their timelines on one axis, with bars of counts beside them.

    before, after: versions of a `StepLog`. The lanes show all steps of a run; hatched: the host waits. Each bar is
    drawn as a part of the larger of its two.
    """
    figure, grid = subplots(2)
    axes = grid[:, 0]
    figure.set_size_inches(CHANGES)
    end = 1e3 * max(before.schedule.seconds, after.schedule.seconds)
    for place, version, panel in zip((0.57, 0.12), (before, after), axes, strict=True):
        panel.set_position((0.13, place, 0.45, 0.35))
        _lanes(panel, version.schedule, end)
        panel.set_title(f"{version.name}: {seconds_text(version.seconds)} a step (modelled)", fontsize=9, loc="left")
    axes[1].set_xlabel(f"ms, {before.steps} steps (modelled on {before.gpu.name})")
    bars = figure.add_axes((0.76, 0.12, 0.22, 0.8))
    for row, count in enumerate(BARS.values()):
        pair = [version.a_step(count(version)) for version in (before, after)]
        most = max(*pair, 1e-12)
        for offset, value, colour in zip((-0.2, 0.2), pair, ("grey", "blue"), strict=True):
            bars.barh(row + offset, value / most, height=0.36, color=shade(PALETTE[colour], 0.7), ec=PALETTE[colour])
            bars.text(0.02, row + offset, _number(value), va="center", fontsize=7.5)
    bars.set(xlim=(0, 1.02), ylim=(len(BARS) - 0.4, -0.6), xticks=[], yticks=range(len(BARS)))
    bars.set_yticklabels(list(BARS), fontsize=8)
    bars.set_title("counted, a step: grey before, blue after", fontsize=8, loc="right")
    said = "; ".join(
        f"{name} {_number(before.a_step(count(before)))} → {_number(after.a_step(count(after)))}"
        for name, count in BARS.items()
        if count(before) != count(after)
    )
    return Picture(
        figure,
        f"From “{before.name}” to “{after.name}” a step goes from {seconds_text(before.seconds)} to "
        f"{seconds_text(after.seconds)} (modelled on {before.gpu.name}). Counted, a step: {said or 'nothing changes'}.",
    )


def _number(value: float) -> str:
    """A count of a step: what is read at the end of several steps is a part of one."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def _lanes(axes: Axes, schedule: Schedule, end: float) -> None:
    """The lanes of one schedule, in milliseconds up to `end`."""
    shortest = end * NARROWEST
    for row, lane in enumerate(LANES):
        spans = schedule.host if lane == "host" else [span for span in schedule.spans if span.engine == lane]
        colour = PALETTE[_COLOURS[lane]]
        for waits in (False, True):
            bars = _joined([span for span in spans if (span.label == WAITS) == waits], shortest)
            look = {"fc": "white", "hatch": "////"} if waits else {"fc": shade(colour, 0.72)}
            axes.broken_barh(bars, (row, 0.8), ec=colour, lw=0.4, **look)
    axes.set(xlim=(0, end * 1.01), ylim=(len(LANES), -0.15), yticks=[row + 0.4 for row in range(len(LANES))])
    axes.set_yticklabels(LANES.values(), fontsize=8)


def _joined(spans: Iterable[Span], shortest: float) -> list[tuple[float, float]]:
    """Starts and lengths in milliseconds; spans that touch are one bar, so that a thousand launches take few marks."""
    found: list[list[float]] = []
    for span in sorted(spans, key=lambda span: span.start):
        start, stop = 1e3 * span.start, max(1e3 * span.end, 1e3 * span.start + shortest)
        if found and start <= found[-1][1] + shortest / 4:
            found[-1][1] = max(found[-1][1], stop)
        else:
            found.append([start, stop])
    return [(start, stop - start) for start, stop in found]
