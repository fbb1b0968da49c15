"""Programs of many small kernels on one axis of time: the gaps in which the GPU waits for the next launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, gpus
from helpers.pictures.widgets.explorer import Explorer
from vgpu.hardware.device import current
from vgpu.hardware.gpus import find
from vgpu.tools import streams

OVERHEADS = (0.5, 1, 2, 3, 5, 8)
"""Microseconds of the host for a launch."""


def launch_gaps(
    programs: Callable[..., object] | Mapping[str, Callable[..., object]],
    *,
    overheads: Sequence[float] = OVERHEADS,
    **choices: Sequence[int],
) -> Explorer:
    """Sliders over what the programs take, the microseconds that a launch costs the host, and a choice of the GPU.

    programs: `program(**values)` asks for kernels, with CuPy or with Numba, or for graphs, each of which is one launch;
    or several by short names, which stand below one another. `choices`: the values of each argument: `steps=(1, 4, 8)`.
    Each is run on the virtual GPU, once for each set of values, and its times are modelled.
    """
    programs = checked.versions(programs, "a program")
    for each in programs.values():
        checked.called("program", each)
    choices = {name: checked.options(name, values) for name, values in choices.items()}
    if taken := set(choices) & {"overhead", "gpu"}:
        raise ValueError(f"{taken.pop()!r} is a control of its own here: call that argument something else")
    overheads = checked.options("overheads", overheads)
    if min(overheads) <= 0:
        raise ValueError(f"a launch takes the host some time: more than 0 µs, not {min(overheads)}")

    @cache
    def recorded(name: str, **values: int):
        found = streams.dry_run(programs[name], **values)
        if not any(step.operation.kind == "kernel" for step in found.steps()):  # those of graphs among them
            raise ValueError(f"{name or 'the program'} asks for no kernel")
        return found

    def draw(overhead: float, gpu: str, **values: int) -> Picture:
        row = replace(find(gpu), launch_overhead=overhead * 1e-6)
        found = {name: recorded(name, **values) for name in programs}
        schedules = {name or "program": each.schedule(row) for name, each in found.items()}
        launches = {
            name or "program": sum(operation.kind in ("kernel", "graph") for operation in each.operations)
            for name, each in found.items()
        }
        longest = max(each.seconds for each in schedules.values())
        return plots.launch_lanes(schedules, launches=launches, until=1.02 * longest)

    first = min(overheads, key=lambda each: abs(each - current().launch_overhead * 1e6))
    controls = {
        **{name: choice(name.replace("_", " "), values[len(values) // 2], values) for name, values in choices.items()},
        "overhead": choice("µs a launch", first, overheads),
        "gpu": gpus(current().name),
    }
    return Explorer("launch_gaps", draw, controls)
