"""Pictures of chapter 1: a CPU core beside an SM, the links between memories, and a queue of launches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from textwrap import wrap

from helpers.hardware.cpus import CPU
from helpers.hardware.gpus import GPU
from helpers.hardware.time_model import seconds_text
from helpers.pictures.figures import CYCLE, MARKERS, PALETTE, Drawing, Picture, new, styled
from helpers.pictures.plots.common import shade
from helpers.pictures.plots.ink import GREY, INK, PALE, Ink
from helpers.pictures.plots.pyramid import bytes_text, speed_text
from helpers.pictures.plots.speedups import axis_of_seconds, powers_of_two, rounded
from helpers.pictures.plots.time import queued
from helpers.results.streams.model import copy_seconds
from helpers.vgpu.base.words import plural

MOST_ROWS = 4
LONGEST_LINE = 11  # letters of a name that have room beside the axis
MICRO = 1e-6


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


WIDTH = 860
LEFT, PANEL = (10, 440), 410
LANE, LANE_STEP, FETCH = 9.0, 10.5, 34.0
LARGEST = 140.0
"""Pixels of the side of the largest memory; the others have areas in proportion."""
_SMALLEST = 3.0
WIDEST = 120.0
"""Pixels of the widest road; the others are in proportion."""
ENLARGED = 10
"""How many times as wide the link is drawn once more, with what copies get of it."""


def core_and_sm(cpu: CPU, gpu: GPU) -> Drawing:
    """One core of `cpu` beside one SM of `gpu`: who fetches instructions, for how many lanes, and from how much memory.

    A small square is a lane for FP32. The areas of the memories are in proportion to their bytes, in both panels
    alike; what all cores or SMs share is divided among them. Memories that no document gives are left out.
    """
    core = [
        ("vector registers", cpu.vector_register_bytes, "orange"), ("L1, for data", cpu.l1_bytes, "sky"),
        ("L2", cpu.l2_bytes, "sky"), ("its share of L3", cpu.l3_bytes // cpu.cores, "sky"),
    ]  # fmt: skip
    sm = [
        ("registers", 4 * gpu.registers_per_sm, "orange"), ("L1 and shared", gpu.l1_bytes, "sky"),
        ("its share of L2", gpu.l2_bytes and gpu.l2_bytes // gpu.sms, "sky"),
    ]  # fmt: skip
    scale = LARGEST / sqrt(max(nbytes for _, nbytes, _ in [*core, *sm] if nbytes))
    per_partition = gpu.fp32_lanes_per_sm // gpu.partitions_per_sm
    ink = Ink()
    panels = (
        (LEFT[0], f"one core of {cpu.name}", [cpu.fp32_lanes_per_core], cpu.vector_lanes, core, cpu.threads_per_core,
         f"{cpu.cores} such cores at {cpu.clock / 1e9:.3g} GHz"),
        (LEFT[1], f"one SM of {gpu.name}", [per_partition] * gpu.partitions_per_sm, per_partition, sm,
         gpu.threads_per_sm, f"{gpu.sms} such SMs at {gpu.clock / 1e9:.3g} GHz"),
    )  # fmt: skip
    rows = max(len(lanes) for _, _, lanes, *_ in panels)
    memories = 54 + rows * 22 + 24
    bottom = memories + LARGEST + 50
    for left, title, lanes, group, memory, threads, many in panels:
        ink.text(left, 20, title, size=14, bold=True, mono=False)
        ink.text(left + PANEL, 20, many, size=11.5, ink=PALE, mono=False, anchor="end")
        ink.text(left, 42, "fetch and issue, and the lanes that follow", size=11, ink=PALE, mono=False)
        for row, count in enumerate(lanes):
            _lanes(ink, left, 50 + row * 22, count, group)
        ink.text(left, memories - 8, "memory, area in proportion to its bytes", size=11, ink=PALE, mono=False)
        _memories(ink, left, memories, memory, scale)
        ink.text(left, bottom, f"holds {plural(threads, 'thread')} at a time", size=12.5, bold=True, mono=False)
        each = sum(nbytes for _, nbytes, colour in memory if colour == "orange") / threads
        cached = sum(nbytes for _, nbytes, colour in memory if nbytes and colour == "sky") / threads
        words = f"for each of them {bytes_text(each)} of registers, {bytes_text(cached)} of the rest"
        ink.text(left, bottom + 18, words, size=11.5, mono=False)
    said = (
        f"A core of {cpu.name} fetches for {cpu.fp32_lanes_per_core} lanes and has "
        f"{bytes_text(sum(nbytes for _, nbytes, _ in core[1:]))} of caches for "
        f"{plural(cpu.threads_per_core, 'thread')}; "
        f"an SM of {gpu.name} has {gpu.partitions_per_sm} schedulers with {per_partition} lanes each, "
        f"{bytes_text(sm[0][1])} of registers and {bytes_text(sm[1][1])} of L1 and shared memory for "
        f"{gpu.threads_per_sm:,} threads."
    )
    return ink.drawing(said, WIDTH, round(bottom + 28))


def _lanes(ink: Ink, left: float, top: float, count: int, group: int) -> None:
    ink.box(left, top, FETCH, 15, PALETTE["vermilion"])
    ink.text(left + FETCH / 2, top + 11, "fetch", size=9.5, ink="#ffffff", mono=False, anchor="middle")
    for lane in range(count):
        x = left + FETCH + 8 + lane * LANE_STEP + 6 * (lane // group)
        ink.box(x, top + 3, LANE, LANE, PALETTE["blue"])


def _memories(ink: Ink, left: float, top: float, memory, scale: float) -> None:
    """Squares side by side on one base line, each with its name and its bytes below."""
    known = [(name, nbytes, colour) for name, nbytes, colour in memory if nbytes]
    base, x = top + LARGEST, left
    for name, nbytes, colour in known:
        side = max(_SMALLEST, scale * sqrt(nbytes))
        ink.box(x, base - side, side, side, PALETTE[colour])
        ink.text(x, base + 12, name, size=10, mono=False)
        ink.text(x, base + 24, bytes_text(nbytes), size=10, ink=PALE, mono=False)
        x += max(side, 5.6 * len(name)) + 12


def data_roads(cpu: CPU, gpu: GPU) -> Drawing:
    """From the cores of `cpu` over both memories to the SMs of `gpu`: each road as wide as its bandwidth.

    Below, the link once more, enlarged: as on the data sheet, and what the model of streams assumes that copies from
    pinned and from pageable memory get of it. Raises ValueError where no document gives the link of that GPU.
    """
    if gpu.host_bandwidth is None:
        raise ValueError(f"no document gives the link between {gpu.name} and its host")
    stations = (f"{cpu.cores} cores", "host memory", f"memory of {gpu.name}", f"{gpu.sms} SMs")
    roads = (
        ("", cpu.memory_bandwidth, PALETTE["sky"]), ("link, each way", gpu.host_bandwidth, PALETTE["vermilion"]),
        ("", gpu.memory_bandwidth, PALETTE["sky"]),
    )  # fmt: skip
    scale = WIDEST / max(rate for _, rate, _ in roads)
    ink, wide, tall, middle = Ink(), 130, WIDEST + 20, WIDEST / 2 + 42
    gap = (WIDTH - 20 - 4 * wide) / 3
    for number, name in enumerate(stations):
        left = 10 + number * (wide + gap)
        ink.box(left, middle - tall / 2, wide, tall, "#f4f4f4", edge=GREY)
        ink.text(left + wide / 2, middle + 4, name, size=12.5, bold=True, mono=False, anchor="middle")
    for number, (name, rate, colour) in enumerate(roads):
        left = 10 + wide + number * (wide + gap)
        thick = max(0.8, scale * rate)
        ink.box(left, middle - thick / 2, gap, thick, colour)
        above = middle - max(thick / 2, 9) - 7
        ink.text(left + gap / 2, above, speed_text(rate), size=12, ink=INK, bold=True, mono=False, anchor="middle")
        if name:
            ink.text(left + gap / 2, middle + 20, name, size=11, ink=PALE, mono=False, anchor="middle")
    for left, words in ((10, cpu.name), (10 + 2 * (wide + gap), gpu.product)):
        ink.text(left, 16, words, size=12, ink=PALE, mono=False)
    left, top = 10 + wide + (wide + gap), middle + tall / 2 + 26
    words = f"the same link, drawn {ENLARGED} times as wide"
    ink.text(left + gap / 2, top, words, size=11, ink=PALE, mono=False, anchor="middle")
    pinned, pageable = (2**30 / copy_seconds(2**30, gpu, pinned=each) for each in (True, False))
    copies = (
        ("data sheet", gpu.host_bandwidth), ("copies from pinned memory, assumed", pinned),
        ("copies from pageable memory, assumed", pageable),
    )  # fmt: skip
    top += 10
    for name, rate in copies:
        thick = ENLARGED * scale * rate
        row = max(thick, 12)
        ink.box(left, top + (row - thick) / 2, gap, thick, PALETTE["vermilion"])
        ink.text(left - 10, top + row / 2 + 4, name, size=11.5, mono=False, anchor="end")
        ink.text(left + gap + 10, top + row / 2 + 4, speed_text(rate), size=11.5, bold=True, mono=False)
        top += row + 7
    said = (
        f"The link between host and {gpu.name} carries {speed_text(gpu.host_bandwidth)} each way. The cores of "
        f"{cpu.name} read {cpu.memory_bandwidth / gpu.host_bandwidth:.2g} times as fast from their own memory, "
        f"and the SMs {gpu.memory_bandwidth / gpu.host_bandwidth:.2g} times as fast from theirs. Of the link, copies "
        f"from pinned memory are assumed to get {speed_text(pinned)}, and those from pageable memory "
        f"{speed_text(pageable)}."
    )
    return ink.drawing(said, WIDTH, round(top + 6))


_WIDTH, _LEFT, _CELL, _STEP, _ROW = 610, 8, 16.0, 18.0, 22.0


def lane_deal(elements: int, widths: Mapping[str, int]) -> Drawing:
    """Which lane of which instruction has which element, one block of rows for each of `widths` (name → lanes).

    A row is one instruction; a filled box is a lane with an element, an empty one a lane without. At most 32 lanes.
    """
    if not all(1 <= width <= 32 for width in widths.values()):
        raise ValueError("an instruction of 1 to 32 lanes fits the page")
    ink, top, said = Ink(), 4.0, []
    for number, (name, width) in enumerate(widths.items()):
        rows = -(-elements // width)
        idle = rows * width - elements
        ink.text(_LEFT, top + 14, name, size=12, bold=True, mono=False)
        words = f"{plural(rows, 'instruction')}, {plural(idle, 'idle lane')}"
        ink.text(_WIDTH - 8, top + 14, words, size=12, ink=PALE, mono=False, anchor="end")
        top += 22
        for row in range(rows):
            for lane in range(width):
                element = row * width + lane
                left = _LEFT + lane * _STEP
                if element < elements:
                    ink.box(left, top, _CELL, _CELL, CYCLE[number])
                    ink.text(left + _CELL / 2, top + 11.5, element, size=9, ink="#ffffff", anchor="middle")
                else:
                    ink.box(left, top, _CELL, _CELL, "#ffffff", edge=GREY, dash="2 2")
            top += _ROW
        top += 8
        said.append(f"{plural(rows, 'instruction')} of {width} lanes ({name}), {idle} of them idle")
    return ink.drawing(f"{plural(elements, 'element')}: " + "; ".join(said) + ".", _WIDTH, round(top))


@styled
def growth(seconds: Mapping[int, float], *, each: str, full: float | None = None, source: str = "modelled") -> Picture:
    """How time grows with the number of things done at once, both axes logarithmic.

    `seconds`: by their number; `each`: what they are called, in the plural; `full`: the number of lanes there are, as
    a line; `source` says where the times come from.
    """
    counts, times = list(seconds), list(seconds.values())
    figure, axes = new("wide")
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
