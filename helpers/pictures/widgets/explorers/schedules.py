"""Two schedules of a kernel side by side, scrubbed step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, steps
from helpers.pictures.widgets.explorer import Explorer
from vgpu.base.errors import VirtualGPUError
from vgpu.tools.steps.interleaving import SEEDS, interleavings


def schedules(
    kernel,
    grid,
    block,
    args,
    *,
    threads: Sequence[int] | None = None,
    seeds: Iterable[int] = SEEDS,
    block_index=0,
    shared_bytes: int = 0,
) -> Explorer:
    """A slider over the steps of two schedules of one block, and a choice of which two.

    The kernel, in either language, is run on the virtual GPU in order and under each of `seeds`; what differs can be
    chosen. threads: up to three numbers of threads in the block, else two that share an element one of them writes.
    Other arguments as for `record`; the arrays are put back as they were.
    """
    if threads is not None:
        threads = checked.options("threads", threads)
    seeds = checked.options("seeds", seeds)
    try:
        found = interleavings(
            kernel, grid, block, args, threads=threads, seeds=seeds, block_index=block_index, shared_bytes=shared_bytes
        )
    except VirtualGPUError as error:
        return Explorer("schedules", _raises(error), {})
    runs = {run.name: run for run in found.runs}
    names = list(runs)
    other = next((run.name for run in found.runs if repr(run.outcome) != repr(found.runs[0].outcome)), names[-1])
    step = steps("step", 0, max(len(run.rows) for run in found.runs))
    step.value = step.max  # so that a page without widgets shows the whole of both

    def draw(left: str, right: str, step: int) -> Picture:
        return plots.schedule_pair(found, runs[left], runs[right], step)

    return Explorer(
        "schedules",
        draw,
        {
            "left": choice("left schedule", names[0], names),
            "right": choice("right schedule", other, names),
            "step": step,
        },
    )


def _raises(error: VirtualGPUError):
    def draw() -> Picture:
        raise error

    return draw
