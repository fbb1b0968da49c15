"""Pictures of chapter 16: paths of copies to shared memory, and what a producer and its consumers do when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.patches import FancyArrowPatch, Rectangle

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from helpers.pictures.plots.pipelines import COMPUTE, COPY, READY, stage_box
from vgpu.base.words import plural
from vgpu.tools.profile import Profile

if TYPE_CHECKING:
    from vgpu.tools.steps.arrivals import BarrierEvent, BarrierPhases

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
