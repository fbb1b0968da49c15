"""A pipeline's schedule as stages and micro-batches change: who works when, the bubble, and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import dropdown, slider
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.ranks.pipeline import ORDERS, pipeline_spans


def pipeline_schedule(
    orders: Mapping[str, Callable[[int, int, int], Sequence]] = ORDERS,
    *,
    stages: tuple[int, int] = (2, 6),
    micro_batches: tuple[int, int] = (1, 12),
    start: tuple[int, int] = (4, 4),
    backward: float = 2.0,
) -> Explorer:
    """A choice of schedules, sliders for stages and micro-batches.

    orders: by name a function of (stage, stages, micro_batches) that gives the stage's work in order, as pairs
    ("forward" or "backward", number of the micro-batch). start: stages and micro-batches to begin with. backward: how
    many times as long as a forward pass a backward pass takes.
    """
    several = checked.versions(orders, "an order of work")
    for name, make in several.items():
        checked.called(f"the order {name!r}", make)
    first = next(iter(several))
    controls = {
        "schedule": dropdown("schedule", first, several),
        "stages": slider("stages", start[0], *checked.bounds("stages", stages)),
        "micro_batches": slider("micro-batches", start[1], *checked.bounds("micro_batches", micro_batches)),
    }

    def draw(schedule: str, stages: int, micro_batches: int) -> Picture:
        spans = pipeline_spans(stages, micro_batches, several[schedule], backward=backward)
        return plots.schedule_gantt(spans, name=schedule or "this order")

    return Explorer("pipeline_schedule", draw, controls)
