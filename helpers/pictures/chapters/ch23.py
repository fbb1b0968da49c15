"""Pictures of chapter 23: traces as timelines, and the versions of a training step and what each one gained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled, subplots
from helpers.pictures.plots.common import shade
from helpers.results.step_log import MODEL_ERROR, StepLog
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


@styled
def change_steps(log: StepLog) -> Picture:
    """The versions of a `StepLog` from the top down: a bar of modelled time each, with its launches and its gain.

    White: a version that was reverted. Grey: one within the model's error of the last that was kept before it.
    Raises ValueError for an empty log.
    """
    versions = list(log.values())
    if not versions:
        raise ValueError("this log has no version yet: log.run(name, program)")
    first = versions[0]
    figure, axes = new()
    figure.set_figheight(0.9 + 0.27 * len(versions))
    for row, version in enumerate(versions):
        reverted = version.name in log.reverted
        clear = version is first or not 1 / MODEL_ERROR < log.gain(version.name) < MODEL_ERROR
        colour = PALETTE["blue" if clear else "grey"]
        axes.barh(row, 1e6 * version.seconds, height=0.7, ec=colour, lw=1,
                  color="white" if reverted else shade(colour, 0.6))  # fmt: skip
        told = f"  {version.a_step(version.launches):,.3g} launches, {first.seconds / version.seconds:.2g} ×"
        axes.text(1e6 * version.seconds, row, told, va="center", fontsize=8)
    names = [version.name + (" (reverted)" if version.name in log.reverted else "") for version in versions]
    longest = max(version.seconds for version in versions)
    axes.set(yticks=range(len(versions)), ylim=(len(versions) - 0.4, -0.6), xlim=(0, 1.3e6 * longest))
    axes.set_yticklabels(names, fontsize=8)
    axes.set_xlabel(f"µs a step (modelled on {first.gpu.name})")
    axes.set_title("grey: within the model's error of the last that was kept; empty: reverted", fontsize=8, loc="left")
    kept = [version for version in versions if version.name not in log.reverted]
    return Picture(
        figure,
        f"{len(versions)} versions of a step, {len(log.reverted)} of them reverted: from "
        f"{seconds_text(first.seconds)} and {first.a_step(first.launches):,.3g} launches to "
        f"{seconds_text(kept[-1].seconds)} and {kept[-1].a_step(kept[-1].launches):,.3g} "
        f"(modelled on {first.gpu.name}).",
    )
