"""Copies that go on while a block computes: pipelines of tiles, groups of copies, phases of mbarriers, swizzles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from vgpu.base.words import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from helpers.models.pipeline import Pipeline

COPY, READY, COMPUTE, LATE = PALETTE["blue"], PALETTE["grey"], PALETTE["orange"], PALETTE["vermilion"]


def stage_box(
    axes: Axes, left: float, right: float, bottom: float, tall: float, colour: str, lightness: float = 0.75, **look: Any
) -> None:
    axes.barh(
        bottom, max(right - left, 0), tall, left, align="edge", color=[shade(colour, lightness)], edgecolor=colour,
        linewidth=0.7, **look,
    )  # fmt: skip


@styled
def pipeline_gantt(found: Pipeline, *, price: str = "", until: float | None = None) -> Picture:
    """When each stage of one block holds which tile, and what the SM computes, from a `results.pipeline.Pipeline`.

    One row per stage: the copy in flight, the tile that waits, the tile that is computed with. The row below has all
    that the SM computes, for all resident blocks. `price`: words on what the stages cost, which end the caption.
    `until`: where the axis ends, in clocks.
    """
    figure, axes = new(left=0.12, right=0.96, top=0.88, bottom=0.15)
    until = until or found.clocks
    for tile in (tile for tile in found.tiles if tile.block == 0 and tile.issued < until):
        row = tile.stage
        stage_box(axes, tile.issued, tile.arrived, row, 0.8, COPY)
        stage_box(axes, tile.arrived, tile.begun, row, 0.8, READY, 0.85)
        stage_box(axes, tile.begun, tile.ended, row, 0.8, COMPUTE)
        if tile.ended - tile.begun > until / 45 and tile.begun < until:
            axes.text((tile.begun + tile.ended) / 2, row + 0.4, str(tile.number), ha="center", va="center", fontsize=8)
    bottom = found.stages + 0.25
    for tile in found.tiles:
        if tile.begun < until:
            stage_box(axes, tile.begun, tile.ended, bottom, 0.8, COMPUTE, 0.6 if tile.block == 0 else 0.85)
    axes.set(xlim=(0, until), ylim=(bottom + 1, -0.15))
    axes.set_yticks([*(row + 0.4 for row in range(found.stages)), bottom + 0.4])
    axes.set_yticklabels([*(f"stage {row}" for row in range(found.stages)), "SM computes"], fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("clocks (modelled)")
    axes.set_title("blue: copy in flight · grey: waits · orange: computed with", fontsize=9, fontweight="normal")
    blocks = "" if found.blocks == 1 else f" in each of {found.blocks} blocks"
    told = (
        f"{plural(found.stages, 'stage')}{blocks}: for {found.bubble:.0%} of the time the SM computes nothing; in the "
        f"long run a tile takes {found.pace:.0f} clocks, set by {found.bound} (modelled)."
    )
    return Picture(figure, f"{told} {price}".strip())
