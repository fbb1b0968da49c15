"""Pictures of chapter 1: a CPU core beside an SM, the links between memories, and a queue of launches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from textwrap import wrap

from helpers.pictures.figures import CYCLE, MARKERS, PALETTE, Drawing, Picture, new, styled
from helpers.pictures.plots.common import bytes_text, shade, speed_text
from helpers.pictures.plots.ink import MONO
from helpers.pictures.plots.speedups import axis_of_seconds, powers_of_two, rounded
from helpers.pictures.plots.templates import from_template
from helpers.pictures.plots.time import queued
from vgpu.base.words import plural
from vgpu.hardware.cpus import CPU
from vgpu.hardware.gpus import GPU
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.streams.model import copy_seconds

MOST_ROWS = 4
LONGEST_LINE = 11  # letters of a name that have room beside the axis
MICRO = 1e-6


@styled
def launch_queue(
    steps: Mapping[str, Sequence[float]], launch: float, *, waits: Mapping[str, Collection[int]] | None = None
) -> Picture:
    """The launches of the host and the kernels of the GPU on one time axis, for up to four steps.

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
    figure, axes = new(left=0.22, right=0.98, top=0.9, bottom=0.15)
    ticks = []
    for row, (name, (asks, works)) in enumerate(spans.items()):
        for bars, top, colour in ((asks, row, "blue"), (works, row + 0.36, "orange")):
            axes.broken_barh(bars, (top, 0.32), fc=shade(PALETTE[colour], 0.6), ec=PALETTE[colour], lw=0.8)
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
    axes.set_title(
        "blue: the host launches · orange: the GPU computes · dotted: the end", fontsize=9, fontweight="normal"
    )
    told = "; ".join(
        f"{name}: {plural(len(works), 'kernel')}, {seconds_text(MICRO * ends[name])}, GPU busy "
        f"{sum(long for _, long in works) / ends[name]:.0%}"
        for name, (_, works) in spans.items()
    )
    return Picture(figure, f"{told[0].upper()}{told[1:]} (worked out, with {launch:g} µs a launch).")


LARGEST, _SMALLEST = 140.0, 3.0
"""Pixels of the side of the largest memory, to whose area the others are in proportion, and of the smallest."""
WIDEST = 120.0
"""Pixels of the widest road; the others are in proportion."""
ENLARGED = 10
"""How many times as wide the link is drawn once more, with what copies get of it."""


def core_and_sm(cpu: CPU, gpu: GPU) -> Drawing:
    """One core of `cpu` beside one SM of `gpu`: how many lanes each instruction has, and how much memory there is.

    A small square is an FP32 lane. The areas of the memories are in proportion to their bytes, the same in both panels;
    what all cores or SMs share is divided among them. Memories that no document gives are left out.
    """
    core = [
        ("vector registers", cpu.vector_register_bytes), ("L1, for data", cpu.l1_bytes), ("L2", cpu.l2_bytes),
        ("its share of L3", cpu.l3_bytes // cpu.cores),
    ]  # fmt: skip
    sm = [
        ("registers", 4 * gpu.registers_per_sm), ("L1 and shared", gpu.l1_bytes),
        ("its share of L2", gpu.l2_bytes and gpu.l2_bytes // gpu.sms),
    ]  # fmt: skip
    scale = LARGEST / sqrt(max(nbytes for _, nbytes in [*core, *sm] if nbytes))
    per_partition = gpu.fp32_lanes_per_sm // gpu.partitions_per_sm
    panels = []
    for title, many, lanes, group, memories, threads in (
        (f"one core of {cpu.name}", f"{cpu.cores} such cores at {cpu.clock / 1e9:.3g} GHz",
         [cpu.fp32_lanes_per_core], cpu.vector_lanes, core, cpu.threads_per_core),
        (f"one SM of {gpu.name}", f"{gpu.sms} such SMs at {gpu.clock / 1e9:.3g} GHz",
         [per_partition] * gpu.partitions_per_sm, per_partition, sm, gpu.threads_per_sm),
    ):  # fmt: skip
        registers, *caches = (nbytes or 0 for _, nbytes in memories)
        panels.append(
            {"title": title, "many": many, "lanes": lanes, "group": group, "memories": _squares(memories, scale),
             "threads": threads, "registers": registers / threads, "cached": sum(caches) / threads}
        )  # fmt: skip
    bottom = 78 + 22 * gpu.partitions_per_sm + 190
    said = (
        f"A core of {cpu.name} fetches for {cpu.fp32_lanes_per_core} lanes and has "
        f"{bytes_text(sum(nbytes for _, nbytes in core[1:]))} of caches for {plural(cpu.threads_per_core, 'thread')}; "
        f"an SM of {gpu.name} has {gpu.partitions_per_sm} schedulers with {per_partition} lanes each, "
        f"{bytes_text(sm[0][1])} of registers and {bytes_text(sm[1][1])} of L1 and shared memory for "
        f"{gpu.threads_per_sm:,} threads."
    )
    return from_template("core_and_sm", said, panels=panels, bottom=bottom)


def _squares(memories: Sequence[tuple[str, int | None]], scale: float) -> list[tuple]:
    """Name, bytes, colour, left edge and side of each memory with a known size; the first are registers."""
    found, x = [], 0.0
    for number, (name, nbytes) in enumerate(memories):
        if nbytes:
            side = max(_SMALLEST, scale * sqrt(nbytes))
            found.append((name, nbytes, PALETTE["sky" if number else "orange"], x, side))
            x += max(side, 5.6 * len(name)) + 12
    return found


def data_roads(cpu: CPU, gpu: GPU) -> Drawing:
    """The path of data from the cores of `cpu` to the SMs of `gpu`; the width of each link shows its bandwidth.

    Below, the link once more, enlarged: as on the data sheet, and what the model of streams assumes that copies from
    pinned and from pageable memory get of it. Raises ValueError where no document gives the link of that GPU.
    """
    if gpu.host_bandwidth is None:
        raise ValueError(f"no document gives the link between {gpu.name} and its host")
    scale = WIDEST / max(cpu.memory_bandwidth, gpu.host_bandwidth, gpu.memory_bandwidth)
    roads = [
        (rate, max(0.8, scale * rate), PALETTE[colour])
        for rate, colour in (
            (cpu.memory_bandwidth, "sky"), (gpu.host_bandwidth, "vermilion"), (gpu.memory_bandwidth, "sky"),
        )
    ]  # fmt: skip
    pinned, pageable = (2**30 / copy_seconds(2**30, gpu, pinned=each) for each in (True, False))
    copies = [
        {"name": name, "rate": rate, "thick": ENLARGED * scale * rate, "row": max(ENLARGED * scale * rate, 12)}
        for name, rate in (
            ("data sheet", gpu.host_bandwidth), ("copies from pinned memory, assumed", pinned),
            ("copies from pageable memory, assumed", pageable),
        )
    ]  # fmt: skip
    said = (
        f"The link between host and {gpu.name} carries {speed_text(gpu.host_bandwidth)} each way. The cores of "
        f"{cpu.name} read {cpu.memory_bandwidth / gpu.host_bandwidth:.2g} times as fast from their own memory, "
        f"and the SMs {gpu.memory_bandwidth / gpu.host_bandwidth:.2g} times as fast from theirs. Of the link, copies "
        f"from pinned memory are assumed to get {speed_text(pinned)}, and those from pageable memory "
        f"{speed_text(pageable)}."
    )
    return from_template(
        "data_roads", said, roads=roads, copies=copies, enlarged=ENLARGED, cpu=cpu.name, product=gpu.product,
        stations=(f"{cpu.cores} cores", "host memory", f"memory of {gpu.name}", f"{gpu.sms} SMs"),
    )  # fmt: skip


def lane_deal(elements: int, widths: Mapping[str, int]) -> Drawing:
    """Which lane of which instruction processes which element, for each of `widths` (name → number of lanes).

    A row is one instruction; a filled box is a lane with an element, an empty one a lane without. At most 32 lanes.
    """
    if not all(1 <= width <= 32 for width in widths.values()):
        raise ValueError("an instruction of 1 to 32 lanes fits the page")
    deals, told = [], []
    for number, (name, width) in enumerate(widths.items()):
        rows = -(-elements // width)
        idle = rows * width - elements
        deals.append(
            {"name": name, "width": width, "rows": rows, "idle": idle, "high": 30 + 22 * rows, "colour": CYCLE[number]}
        )
        told.append(f"{plural(rows, 'instruction')} of {width} lanes ({name}), with {plural(idle, 'idle lane')}")
    finding = f"{plural(elements, 'element')}: {'; '.join(told)}."
    return from_template("lane_deal", finding, elements=elements, deals=deals, mono=MONO)


@styled
def growth(seconds: Mapping[int, float], *, each: str, full: float | None = None, source: str = "modelled") -> Picture:
    """How time grows with the number of things done at once, both axes logarithmic.

    `seconds`: by their number; `each`: what they are called, in the plural; `full`: the number of lanes there are, as
    a line; `source` says where the times come from.
    """
    counts, times = list(seconds), list(seconds.values())
    figure, axes = new()
    axes.loglog(counts, times, color=CYCLE[0], marker=MARKERS[0])
    low, high = min(times) / 2, max(times) * 2
    axes.set(xlabel=f"{each} ({source})", ylim=(low, high))
    powers_of_two(axes, counts)
    axis_of_seconds(axes, low, high)
    if full is not None:
        axes.axvline(full, color=PALETTE["ink"], ls="--", lw=1)
        axes.text(full / 1.15, high / 1.3, f"{full:,.0f} lanes", ha="right", va="top", fontsize=9)
    first, last = counts[0], counts[-1]
    flat = max(count for count in counts if seconds[count] <= 1.1 * times[0])
    return Picture(
        figure,
        f"{flat:,} {each} take as long as {first:,}, {seconds_text(times[0])}; {last:,} take "
        f"{rounded(times[-1] / times[0])} times as long ({source}).",
    )
