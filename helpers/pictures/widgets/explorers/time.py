"""Explorers of time: host timers, CPU against GPU, gaps between launches, and timelines of streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.plots.time import swim_finding
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, gpus, slider, steps, toggle
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.crossover import COPIES, Counted, break_even
from vgpu.base.words import plural
from vgpu.hardware import cpus
from vgpu.hardware.device import current
from vgpu.hardware.gpus import find
from vgpu.tools import streams
from vgpu.tools import streams as recordings
from vgpu.tools.launch import Launch
from vgpu.tools.profile import profile
from vgpu.tools.streams.spans import Schedule


def _microseconds(given: Launch | float) -> float:
    """Of one run of the kernel alone: the time that its launch takes the host is left out."""
    if not isinstance(given, Launch):
        return given
    model = given.profile().model
    return 1e6 * (model.seconds - model.terms["launch"])


def timer_bars(kernel: Callable[[int], Launch | float], *, elements: int = 1 << 22, launches: int = 1) -> Explorer:
    """Sliders for the size of the data and the number of launches, over the timeline of both.

    `kernel(elements)`: a `Launch` for data of that size, whose time is modelled from its counts; or the microseconds of
    one run, from elsewhere. A launch keeps the host as long as the sheet of the modelled GPU says. Modelled, not
    measured: the figure says so.
    """
    from vgpu.hardware.device import current

    checked.called("kernel", kernel)

    def draw(elements: int, launches: int) -> Picture:
        found = _microseconds(kernel(elements))
        if not found >= 0:
            raise ValueError(f"kernel({elements}) gives a Launch, or microseconds, 0 or more, not {found!r}")
        return plots.timer_bars(current().launch_overhead * 1e6, found, launches=launches)

    sizes = [(f"2^{power}", 1 << power) for power in range(10, 25, 2)]
    return Explorer(
        "timer_bars",
        draw,
        {"elements": choice("elements", elements, sizes), "launches": slider("launches", launches, 1, 12)},
    )


POWERS = range(8, 29)
SAMPLE = 1 << 13
BLOCK = 256
LAUNCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
LIMITS = (1e-7, 10.0)


def crossover(
    kernel: Any,
    args: Callable[..., tuple],
    *,
    cpu: str | float | Callable[..., float] = cpus.DEFAULT,
    block: int = BLOCK,
    sample: int = SAMPLE,
    elements: int = 1 << 20,
    copies: str = "not counted",
    **choices: Sequence[int],
) -> Explorer:
    """The time of a CPU and of a GPU against the number of elements, and the size at which the GPU becomes faster.

    kernel: in any language, one thread an element, in blocks of `block`. `args(elements, **values)` gives its
    arguments for so many elements; it is profiled at `sample` of them for each of `choices`, each a slider over those
    values, such as the work an element takes: `args=lambda n, steps: (x[:n], steps), steps=(1, 16, 256)`. What the
    kernel reads is taken to be copied in, what it writes to be copied back.

    `cpu`: a name of `hardware.cpus`, whose time is modelled from the same counts; or the seconds that an element takes
    on a CPU of yours, which you measured (a function of the values of `choices`, where there are some). All times of
    the GPU are modelled.
    """

    checked.called("args", args)
    if sample < 1:
        raise ValueError(f"sample is the number of elements to count with, at least 1, not {sample}")
    if isinstance(cpu, str):
        cpus.find(cpu)  # KeyError names those that there are
    elif not callable(cpu) and not cpu > 0:
        raise ValueError(f"cpu is the seconds that one element takes, more than 0, or a name; got {cpu!r}")
    choices = {name: checked.options(name, values) for name, values in choices.items()}
    if taken := set(choices) & {"launches", "gpu"}:
        raise ValueError(f"{taken.pop()!r} is a control of its own here: call that argument something else")

    @cache
    def counted(**values: int) -> Counted:
        return Counted(profile(kernel, -(-sample // block), block, args(sample, **values)), sample)

    def cpu_seconds(**values: int) -> Callable[[float], float]:
        if isinstance(cpu, str):
            row, work = cpus.find(cpu), counted(**values)
            if not work.on_cpu(1, row) > 0:
                raise ValueError("this kernel moves no bytes and does no arithmetic: a CPU has nothing to be timed for")
            return lambda size: work.on_cpu(size, row)
        each = cpu(**values) if callable(cpu) else float(cpu)
        return lambda size: each * size

    name, kind = (cpu, "modelled") if isinstance(cpu, str) else ("your CPU", "measured")
    sizes = [float(size) for size in np.geomspace(2 ** POWERS[0], 2 ** POWERS[-1], 2 * len(POWERS) - 1)]

    def draw(elements: int, copies: str, launches: int, gpu: str, **values: int) -> Picture:
        work, on_cpu = counted(**values), cpu_seconds(**values)

        def on_gpu(size: float) -> float:
            return work.on_gpu(size, gpu, copies, launches)

        return plots.crossover_curves(
            sizes,
            [on_cpu(size) for size in sizes],
            [on_gpu(size) for size in sizes],
            at=elements,
            at_seconds=(on_cpu(elements), on_gpu(elements)),
            border=break_even(on_cpu, on_gpu, sizes),
            names=(name, gpu),
            kinds=(kind, "modelled"),
            limits=LIMITS,
        )

    controls = {
        "elements": choice("elements", elements, [(f"2^{power}", 1 << power) for power in POWERS]),
        **{name: choice(name.replace("_", " "), values[0], values) for name, values in choices.items()},
        "launches": choice("launches per copy", 1, LAUNCHES),
        "copies": dropdown("copies", copies, COPIES),
        "gpu": gpus(current().name),
    }
    return Explorer("crossover", draw, controls)


OVERHEADS = (0.5, 1, 2, 3, 5, 8)
"""Microseconds of the host for a launch."""


def launch_gaps(
    programs: Callable[..., object] | Mapping[str, Callable[..., object]],
    *,
    overheads: Sequence[float] = OVERHEADS,
    **choices: Sequence[int],
) -> Explorer:
    """The gaps between kernels, with sliders for the programs' arguments and the CPU's launch overhead.

    programs: `program(**values)` launches kernels, with CuPy or with Numba, or for graphs, each of which is one launch;
    or several by short names, which stand below one another. `choices`: the values of each argument: `steps=(1, 4, 8)`.
    Each is run on the virtual GPU, once for each set of values, and its times are modelled.
    """
    several = checked.versions(programs, "a program, which is a function", Callable)
    choices = {name: checked.options(name, values) for name, values in choices.items()}
    if taken := set(choices) & {"overhead", "gpu"}:
        raise ValueError(f"{taken.pop()!r} is a control of its own here: call that argument something else")
    overheads = checked.options("overheads", overheads)
    if min(overheads) <= 0:
        raise ValueError(f"a launch takes the host some time: more than 0 µs, not {min(overheads)}")

    @cache
    def recorded(name: str, **values: int) -> streams.Timeline:
        found = streams.dry_run(several[name], **values)
        if not any(step.operation.kind == "kernel" for step in found.steps()):  # those of graphs among them
            raise ValueError(f"{name or 'the program'} asks for no kernel")
        return found

    def draw(overhead: float, gpu: str, **values: int) -> Picture:
        row = replace(find(gpu), launch_overhead=overhead * 1e-6)
        found = {name: recorded(name, **values) for name in several}
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


ZOOMS = (1, 2, 4, 8, 16, 32)


def timeline(
    program: Callable[[], object] | Mapping[str, Callable[[], object]], *, zooms: Sequence[int] = ZOOMS
) -> Explorer:
    """Sliders for the operation and for how much of the time around it is shown; a choice among several programs.

    `program()` issues copies and launches kernels, with CuPy or with Numba, makes its own buffers and waits at its
    end; or a mapping from short names to such programs. Each is recorded once: measured on a GPU, elsewhere modelled
    for the one that is chosen then. The longest operation is shown first. Raises ValueError, with the reason, where a
    GPU's work cannot be recorded or nothing was asked of it.
    """
    several = checked.versions(program, "a program, which is a function", Callable)
    zooms = checked.options("zooms", zooms)
    if min(zooms) < 1:
        raise ValueError(f"a zoom is 1, for the whole time, or more; got {min(zooms)}")
    found: dict[str, Schedule] = {name: _recorded(each) for name, each in several.items()}
    first = next(iter(found))
    controls = {}
    if len(found) > 1:
        controls["program"] = choice("program", first, found)
    controls["operation"] = step = steps("operation", 1, len(found[first].spans))
    step.value = _longest(found[first])
    controls["zoom"] = choice("zoom", zooms[0], zooms)

    def fit() -> None:
        """A program may have fewer operations than the one shown until now."""
        operations = len(found[controls["program"].value if "program" in controls else first].spans)
        step.value = min(step.value, operations)
        step.max = operations

    def draw(operation: int, zoom: int, program: str = first) -> Picture:
        schedule = found[program]
        return plots.timeline_window(schedule, min(operation, len(schedule.spans)), zoom, name=program)

    return Explorer("timeline", draw, controls, fit=fit)


def _longest(schedule: Schedule) -> int:
    """The number of the operation that takes most time, from 1."""
    lengths = [span.end - span.start for span in schedule.spans]
    return 1 + lengths.index(max(lengths))


def _recorded(program: Callable[[], object]) -> Schedule:
    try:
        found = streams.schedule(program)
    except streams.RecordingError as error:
        raise ValueError(str(error)) from error
    if not found.spans:
        raise ValueError("the program asks nothing of the GPU: no copy, no kernel")
    return found


def swim_lanes(
    program: Callable[..., object],
    *,
    chunks: Sequence[int] = (1, 2, 4, 8, 16, 32),
    streams: Sequence[int] = (1, 2, 3, 4, 8),
    start: tuple[int, int] | None = None,
) -> Explorer:
    """Sliders over chunks and streams, and a box for pinned memory; a dashed line marks one chunk in one stream.

    `program(chunks, streams, pinned)` issues the work, with CuPy or with Numba, makes its own buffers and waits at
    its end. It is recorded at every move: measured on a GPU and modelled elsewhere. `start`: the first values of both
    sliders, else the third chunk and the second stream choice, as far as there are so many.
    """
    checked.called("program", program)
    chunks, streams = checked.options("chunks", chunks), checked.options("streams", streams)
    first_chunks, first_streams = start or (chunks[:3][-1], streams[:2][-1])
    known: dict[tuple, Schedule] = {}

    def schedule(*values: int) -> Schedule:
        key = *values, current().name
        if key not in known:
            try:
                known[key] = recordings.schedule(program, *values)
            except recordings.RecordingError as error:
                raise ValueError(str(error)) from error
        return known[key]

    def draw(chunks: int, streams: int, pinned: bool) -> Picture:
        found, alone = schedule(chunks, streams, pinned), schedule(1, 1, True)
        if not (found.spans and alone.spans):
            raise ValueError("the program asks nothing of the GPU: no copy, no kernel")
        name = f"{plural(chunks, 'chunk')} in {plural(streams, 'stream')}, "
        name += "pinned memory" if pinned else "pageable memory"
        picture = plots.schedule_lanes(found, until=alone.seconds, mark="one piece, pinned")
        return Picture(picture.figure, swim_finding(found, name, alone.seconds))

    return Explorer(
        "swim_lanes",
        draw,
        {
            "chunks": choice("chunks", first_chunks, chunks),
            "streams": choice("streams", first_streams, streams),
            "pinned": toggle("pinned memory", True),
        },
    )
