"""Traces of PyTorch's profiler as timelines: what a training script was doing, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.pictures.figures import CYCLE, PALETTE, Picture, styled, subplots
from helpers.pictures.plots.common import shade
from vgpu.hardware.time_model import seconds_text

if TYPE_CHECKING:
    from helpers.results.torch.trace import TraceSpan

HATCHES = ("", "///", "", "...", "\\\\\\", "xx")
NARROWEST = 1 / 600  # of the axis: what is shorter is drawn as long as this


@styled
def trace_timeline(traces: Mapping[str, Sequence[TraceSpan]], lanes: Mapping[str, str], *, about: str = "") -> Picture:
    """Traces by name, one above another on one time axis, with a lane for each kind of work.

    lanes: for each lane its name, and how the names of its spans begin. Spans that no lane names aren't drawn. `about`
    says where the traces come from. ValueError where there is no trace, or nothing to draw.
    """
    found = {name: _by_lane(spans, lanes) for name, spans in traces.items()}
    if not found or not any(any(rows.values()) for rows in found.values()):
        raise ValueError(f"no span of these traces begins with any of {', '.join(map(repr, lanes.values()))}")
    figure, grid = subplots(len(found))
    figure.set_figheight(0.7 + len(found) * (0.55 + 0.28 * len(lanes)))
    end = max(span.end for rows in found.values() for spans in rows.values() for span in spans)
    panels = [row[0] for row in grid]
    for panel, (name, rows) in zip(panels, found.items(), strict=True):
        for number, spans in enumerate(rows.values()):
            colour = CYCLE[number]
            bars = [(1e3 * span.start, 1e3 * max(span.seconds, NARROWEST * end)) for span in spans]
            panel.broken_barh(
                bars, (len(lanes) - number - 0.9, 0.8), fc=shade(colour, 0.7), ec=colour, lw=0.8,
                hatch=HATCHES[number % len(HATCHES)],
            )  # fmt: skip
        panel.set(xlim=(0, 1e3 * end), ylim=(0, len(lanes)), yticks=[len(lanes) - n - 0.5 for n in range(len(lanes))])
        panel.set_yticklabels(list(lanes), fontsize=8)
        panel.tick_params(axis="y", length=0)
        panel.set_title(name, fontsize=9, loc="left")
        panel.grid(axis="x", color=PALETTE["mist"])
        if panel is not panels[-1]:
            panel.set_xticklabels([])
    panels[-1].set_xlabel(f"ms{f' ({about})' if about else ''}")
    return Picture(figure, "; ".join(_finding(name, rows) for name, rows in found.items()) + ".")


def _by_lane(spans: Sequence[TraceSpan], lanes: Mapping[str, str]) -> dict[str, list[TraceSpan]]:
    return {lane: [span for span in spans if span.name.startswith(start)] for lane, start in lanes.items()}


def _finding(name: str, rows: Mapping[str, Sequence[TraceSpan]]) -> str:
    spans = [span for each in rows.values() for span in each]
    if not spans:
        return f"{name}: nothing recorded"
    whole = max(span.end for span in spans) - min(span.start for span in spans)
    shares = ", ".join(
        f"{lane} {sum(span.seconds for span in each) / whole:.0%}" for lane, each in rows.items() if each
    )
    return f"{name}: of {seconds_text(whole)}, {shares}"
