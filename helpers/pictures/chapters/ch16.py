"""Pictures of chapter 16: paths of copies to shared memory, copy groups, and phases of mbarriers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.patches import FancyArrowPatch, Rectangle

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from helpers.pictures.plots.pipelines import COMPUTE, COPY, LATE, READY, stage_box
from vgpu.base.words import plural
from vgpu.tools.profile import Profile

if TYPE_CHECKING:
    from vgpu.tools.steps.arrivals import BarrierEvent, BarrierPhases, CopyGroups

PLACES = ("global memory\nand L2", "L1 cache", "registers", "shared memory")
WAYS = {
    "ld and st": ((0, 1), (1, 2), (2, 3)),
    "cp.async.ca": ((0, 1), (1, 3)),
    "cp.async.cg": ((0, 3),),
    "bulk copy": ((0, 3),),
}
"""Which places data pass, by the kind of copy. Source: NVIDIA "PTX ISA", cp.async (.ca, .cg) and cp.async.bulk."""


def _way(profile: Profile) -> str:
    if profile.counters["bulk_loads"]:
        return "bulk copy"
    if profile.counters["async_copies"]:
        return "cp.async.cg" if re.search(r"cp\.async\.cg", profile.kernel.ptx) else "cp.async.ca"
    return "ld and st"


def _instructions(profile: Profile, way: str) -> int:
    """Instructions of warps, or of single threads for bulk copies, that move data to shared memory."""
    if way == "bulk copy":
        return profile.counters["bulk_loads"]
    if way == "ld and st":
        return profile.counters["global_load_requests"] + profile.counters["shared_store_requests"]
    return profile.counters["async_copies"]


@styled
def copy_paths(profiles: Mapping[str, Profile]) -> Picture:
    """The path that each kernel's data take to shared memory, from its profile.

    The way is read from what was counted: ordinary loads and stores, `cp.async` through L1 (`.ca`) or past it (`.cg`),
    or bulk copies.
    """
    figure, axes = new(left=0.01, right=0.99, top=0.98, bottom=0.02)
    told = []
    for row, (name, profile) in enumerate(profiles.items()):
        way = _way(profile)
        passed = {place for hop in WAYS[way] for place in hop}
        for place, label in enumerate(PLACES):
            on = place in passed
            axes.add_patch(
                Rectangle(
                    (2.1 + 1.4 * place, row + 0.3), 1.05, 0.42, fc=shade(PALETTE["sky"], 0.85) if on else "none",
                    ec=PALETTE["ink" if on else "grey"], lw=1.2 if on else 0.6, ls="-" if on else ":",
                )
            )  # fmt: skip
            axes.text(
                2.625 + 1.4 * place, row + 0.51, label, ha="center", va="center", fontsize=8.5,
                color=PALETTE["ink" if on else "grey"],
            )  # fmt: skip
        for start, end in WAYS[way]:
            bent = end - start > 1
            axes.add_patch(
                FancyArrowPatch(
                    (2.65 + 1.4 * start if bent else 3.15 + 1.4 * start, row + (0.3 if bent else 0.51)),
                    (2.6 + 1.4 * end if bent else 2.1 + 1.4 * end, row + (0.3 if bent else 0.51)),
                    connectionstyle=f"arc3,rad={-0.18 if bent else 0}", arrowstyle="-|>", mutation_scale=12, lw=1.8,
                    color=PALETTE["blue"],
                )
            )  # fmt: skip
        count = _instructions(profile, way)
        axes.text(0.05, row + 0.42, name, fontsize=9.5, fontweight="bold", va="center")
        axes.text(0.05, row + 0.66, f"{way}: {plural(count, 'instruction')}", fontsize=8, va="center")
        past = "through registers" if 2 in passed else "past the registers"
        past += " and L1" if 1 not in passed else ""
        told.append(f"{name} moves its tiles by {plural(count, 'instruction')} ({way}), {past}")
    axes.set(xlim=(0, 7.45), ylim=(len(profiles) - 0.05, -0.1))
    axes.axis("off")
    return Picture(figure, f"{'; '.join(told)} (counted).")


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
        f"wait {event.count} lands {_listed('group', event.landed) if event.landed else 'nothing'}"
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


def _stage(event: BarrierEvent) -> int:
    number = re.search(r"\[(\d+)\]$", event.changed[0])
    return int(number[1]) if number else 0


@styled
def warp_gantt(found: BarrierPhases, *, latency: float, transfer: float, compute: float) -> Picture:
    """When stages of a producer and its consumers are copied and multiplied, from `barrier_phases` of a run.

    The run says which tiles are announced in which stage, and which warpgroups release it. The times in clocks are
    modelled: memory serves one copy at a time for `transfer`, which lands `latency` later; the tensor cores serve one
    warpgroup's product of a tile at a time for `compute`.
    """
    tiles = [_stage(event) for event in found.events if event.kind == "expect"]
    consumers = sorted({event.warp // 4 for event in found.events if event.kind == "arrive"})
    stages = max(tiles) + 1
    figure, axes = new(left=0.13, right=0.97, top=0.88, bottom=0.15)
    free, memory, cores, waited = [0.0] * stages, 0.0, 0.0, 0.0
    for number, stage in enumerate(tiles):
        issued = free[stage]
        memory = max(memory, issued) + transfer
        landed = memory + latency
        waited += max(landed - cores, 0)
        stage_box(axes, issued, landed, stage, 0.8, COPY)
        for row, _ in enumerate(consumers):
            begun = max(landed, cores)
            cores = begun + compute
            stage_box(axes, begun, cores, stages + 0.25 + row, 0.8, COMPUTE)
            axes.text((begun + cores) / 2, stages + 0.65 + row, str(number), ha="center", va="center", fontsize=8)
        first = cores - len(consumers) * compute
        stage_box(axes, landed, first, stage, 0.8, READY, 0.85)
        stage_box(axes, first, cores, stage, 0.8, COMPUTE)
        axes.text((issued + landed) / 2, stage + 0.4, f"tile {number}", ha="center", va="center", fontsize=8)
        free[stage] = cores
    axes.set(xlim=(0, cores), ylim=(stages + len(consumers) + 0.25, -0.15))
    rows = [*(row + 0.4 for row in range(stages)), *(stages + 0.65 + row for row in range(len(consumers)))]
    labels = [*(f"stage {row}" for row in range(stages)), *(f"warpgroup {group}" for group in consumers)]
    axes.set_yticks(rows, labels, fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("clocks (modelled; which tile goes where is from a run)")
    axes.set_title("blue: copy in flight · grey: waits · orange: multiplied", fontsize=9, fontweight="normal")
    told = f"{plural(len(tiles), 'tile')} go through {plural(stages, 'stage')} to {plural(len(consumers), 'warpgroup')}"
    return Picture(
        figure,
        f"{found.kernel}: {told}; the tensor cores wait for {waited / cores:.0%} of {cores:.0f} clocks (modelled).",
    )
