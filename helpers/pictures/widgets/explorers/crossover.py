"""Where a GPU begins to pay: the time of a CPU and of a GPU over the size, with and without the copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, gpus
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.crossover import COPIES, Counted, break_even
from vgpu.hardware import cpus
from vgpu.hardware.device import current
from vgpu.tools.profile import profile

POWERS = range(8, 29)
SAMPLE = 1 << 13
BLOCK = 256
LAUNCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
LIMITS = (1e-7, 10.0)


def crossover(
    kernel,
    args: Callable[..., tuple],
    *,
    cpu: str | float | Callable[..., float] = cpus.DEFAULT,
    block: int = BLOCK,
    sample: int = SAMPLE,
    elements: int = 1 << 20,
    copies: str = "not counted",
    **choices: Sequence[int],
) -> Explorer:
    """Curves of seconds over the number of elements, CPU against GPU, with the size from which on the GPU wins.

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
