"""What asynchronous copies and mbarriers wait for, in the order of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from helpers.pictures.plots.pipelines import COMPUTE, COPY, LATE, stage_box
from vgpu.base.words import plural

if TYPE_CHECKING:
    from vgpu.tools.steps.arrivals import BarrierPhases, CopyGroups

MOST_COLUMNS = 40
FEW = 8  # columns that are wide enough for numbers


@styled
def copy_groups(found: CopyGroups) -> Picture:
    """Which copies of a thread join which group, and which wait lands them, from `results.steps.arrivals.copy_groups`.

    A column for each thing the thread does, one row per group: from its copies to the wait that lands them.
    """
    events = found.events[:MOST_COLUMNS]
    figure, axes = new(left=0.1, right=0.95, top=0.72, bottom=0.06)
    groups = sorted({event.group for event in events if event.kind == "copy"})
    rows = {group: row for row, group in enumerate(groups)}
    landed = {group: at for at, event in enumerate(events) for group in event.landed}
    for group, row in rows.items():
        first = min(at for at, event in enumerate(events) if event.kind == "copy" and event.group == group)
        closed = [at for at, event in enumerate(events) if event.kind == "commit" and event.group == group]
        middle = closed[0] + 0.5 if closed else len(events)
        end = landed.get(group, len(events) - 0.5) + 0.5
        stage_box(axes, first, min(middle, end), row + 0.1, 0.8, COPY, 0.9)
        stage_box(axes, min(middle, end), end, row + 0.1, 0.8, COPY if group in landed else LATE, 0.7)
        if group in landed:
            stage_box(axes, end, len(events), row + 0.1, 0.8, PALETTE["green"], 0.85)
    words = {"copy": "copy", "commit": "commit", "wait": "wait"}
    for at, event in enumerate(events):
        many = f" ×{event.count}" if event.kind == "copy" and event.count > 1 else ""
        text = f"{words[event.kind]} {event.count}" if event.kind == "wait" else f"{words[event.kind]}{many}"
        weight = "bold" if event.kind == "wait" else "normal"
        axes.text(
            at + 0.5, 1.02, text, rotation=60, ha="left", va="bottom", fontsize=8, fontweight=weight,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
        if event.kind == "wait":
            axes.axvline(at + 0.5, color=PALETTE["ink"], lw=0.8, ls=":")
    axes.set(
        xlim=(0, len(events)), ylim=(max(len(groups), 1), 0), xticks=[], yticks=[row + 0.5 for row in rows.values()]
    )
    axes.set_yticklabels([f"group {group}" for group in rows], fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    figure.text(
        0.1, 0.965, "pale blue: open group · blue: committed, in flight · green: landed · orange: never waited for",
        fontsize=9, va="center",
    )  # fmt: skip
    waits = [event for event in found.events if event.kind == "wait"]
    each = "; ".join(
        f"wait_group {event.count} completes {_listed('group', event.landed) if event.landed else 'nothing'}"
        for event in waits[:4]
    )
    more = f"; and {plural(len(waits) - 4, 'wait')} more" if len(waits) > 4 else ""
    never = f" {_listed('Group', found.pending)} never landed." if found.pending else ""
    return Picture(figure, f"{found.kernel}, thread {found.thread}: {each or 'it never waits'}{more}.{never}")


def _listed(word: str, numbers: Sequence[int]) -> str:
    return f"{word}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


@styled
def barrier_phases(found: BarrierPhases) -> Picture:
    """The arrivals and bytes each mbarrier still expects, by event, from `results.steps.arrivals.barrier_phases`.

    A band for each mbarrier, white in phases of parity 0 and shaded in those of parity 1; bars are what is missing
    after the event: arrivals (orange) and bytes (blue), each as a share of the most that was missing.
    """
    events = found.events[:MOST_COLUMNS]
    figure, axes = new(left=0.13, right=0.94, top=0.7, bottom=0.06)
    states = [state for event in events for state in event.states.values() if state]
    most = max(max(state.bytes for state in states), 1)
    for row, name in enumerate(found.names):
        for at, event in enumerate(events):
            state = event.states[name]
            if state is None:
                continue
            if state.phase % 2:
                axes.add_patch(_patch(at, row + 0.04, 1, 0.92, PALETTE["mist"]))
            loud = name in event.changed
            for left, count, share, colour in (
                (at + 0.12, state.arrivals, state.arrivals / state.expected, COMPUTE),
                (at + 0.52, state.bytes, max(state.bytes, 0) / most, COPY),
            ):
                if len(events) <= FEW:
                    axes.text(
                        left + 0.17, row + 0.9 - 0.5 * share, f"{count:,}", ha="center", va="bottom", fontsize=8.5
                    )
                axes.add_patch(
                    _patch(left, row + 0.92 - 0.5 * share, 0.34, 0.5 * share, colour, 0.55 if loud else 0.85)
                )
            before = events[at - 1].states[name] if at else None
            if before is None or before.phase != state.phase:
                axes.text(at + 0.06, row + 0.13, f"phase {state.phase}", fontsize=8, va="center", fontweight="bold")
        axes.axhline(row + 1, color=PALETTE["grey"], lw=0.6)
    for at, event in enumerate(events):
        axes.text(
            at + 0.4, 1.02, f"warp {event.warp}: {event.kind}", rotation=60, ha="left", va="bottom", fontsize=8,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.set(xlim=(0, len(events)), ylim=(len(found.names), 0), xticks=[])
    axes.set_yticks([row + 0.5 for row in range(len(found.names))], list(found.names), fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    figure.text(
        0.13,
        0.965,
        "orange: arrivals missing · blue: bytes missing · shaded: phases of parity 1",
        fontsize=9,
        va="center",
    )
    last = found.events[-1].states
    told = "; ".join(
        f"{name} waits for {plural(state.expected, 'arrival')} a phase and ends in phase {state.phase}"
        for name, state in last.items() if state
    )  # fmt: skip
    return Picture(figure, f"{found.kernel}, {plural(len(found.events), 'change')}: {told}.")


def _patch(
    left: float, bottom: float, wide: float, tall: float, colour: str, lightness: float | None = None
) -> Rectangle:
    fill = colour if lightness is None else shade(colour, lightness)
    return Rectangle((left, bottom), wide, tall, facecolor=fill, edgecolor="none")
