"""A host that asks for kernels and a GPU that runs them, on two clocks: worked out from times that are given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from textwrap import wrap

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from vgpu.base.words import plural
from vgpu.hardware.time_model import seconds_text

MOST_ROWS = 4
LONGEST_LINE = 11  # letters of a name that have room beside the axis
MICRO = 1e-6


def queued(kernels: Sequence[float], launch: float, waits: Collection[int] = ()) -> tuple[list, list]:
    """When the host asks for each kernel and when the GPU runs it, as (start, length); `waits`: for which it waits."""
    asks, works, host, gpu = [], [], 0.0, 0.0
    for number, kernel in enumerate(kernels):
        asks.append((host, launch))
        host += launch
        start = max(gpu, host)
        works.append((start, kernel))
        gpu = start + kernel
        host = gpu if number in waits else host
    return asks, works


@styled
def launch_queue(
    steps: Mapping[str, Sequence[float]], launch: float, *, waits: Mapping[str, Collection[int]] | None = None
) -> Picture:
    """Host and GPU as two rows for each of up to four steps, on one axis of time.

    steps: by name, the microseconds of each kernel on the GPU. launch: microseconds of the host for each. waits: by
    name, the positions, from 0 on, of kernels whose result the host waits for. ValueError for more steps, for a step
    without a kernel, and for a wait in a step that is not there.
    """
    waits = waits or {}
    if not 1 <= len(steps) <= MOST_ROWS or not all(len(kernels) for kernels in steps.values()):
        raise ValueError(f"this draws 1 to {MOST_ROWS} steps, each with a kernel at least")
    if strange := set(waits) - set(steps):
        raise ValueError(f"there is no step called {strange.pop()!r} to wait in; there are {', '.join(steps)}")
    spans = {name: queued(kernels, launch, waits.get(name, ())) for name, kernels in steps.items()}
    ends = {name: works[-1][0] + works[-1][1] for name, (_, works) in spans.items()}
    until = 1.1 * max(ends.values())
    figure, axes = new("wide", layout=None)
    figure.subplots_adjust(left=0.22, right=0.98, top=0.9, bottom=0.15)
    ticks = []
    for row, (name, (asks, works)) in enumerate(spans.items()):
        for bars, top, colour in ((asks, row, "blue"), (works, row + 0.36, "orange")):
            look = {"fc": shade(PALETTE[colour], 0.6), "ec": PALETTE[colour], "lw": 0.8}
            axes.broken_barh(bars, (top, 0.32), **look)
        ticks += [(row + 0.16, "host"), (row + 0.52, "GPU")]
        axes.plot([ends[name]] * 2, [row - 0.04, row + 0.72], color=PALETTE["ink"], lw=1, ls=":")
        axes.text(ends[name] + until / 150, row + 0.34, f"{ends[name]:g} µs", va="center", fontsize=9)
        axes.text(
            -0.095 * until, row + 0.34, "\n".join(wrap(name, LONGEST_LINE)), ha="right", va="center", fontsize=9,
            clip_on=False,
        )  # fmt: skip
    axes.set(xlim=(0, until), ylim=(len(spans) - 0.1, -0.15), yticks=[at for at, _ in ticks], xlabel="µs (worked out)")
    axes.set_yticklabels([word for _, word in ticks], fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_title("blue: the host asks · orange: the GPU works · dotted: the end", fontsize=9, fontweight="normal")
    told = "; ".join(
        f"{name}: {plural(len(works), 'kernel')}, {seconds_text(MICRO * ends[name])}, GPU at work "
        f"{sum(long for _, long in works) / ends[name]:.0%}"
        for name, (_, works) in spans.items()
    )
    return Picture(figure, f"{told[0].upper()}{told[1:]} (worked out, with {launch:g} µs a launch).")
