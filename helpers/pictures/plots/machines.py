"""What a CPU and a GPU are made of, drawn to scale from their rows: one core beside one SM, and the roads of data."""

from __future__ import annotations

from math import sqrt

from helpers.pictures.figures import PALETTE, Drawing
from helpers.pictures.plots.ink import GREY, INK, PALE, Ink
from helpers.pictures.plots.pyramid import bytes_text, speed_text
from vgpu.base.words import plural
from vgpu.hardware.cpus import CPU
from vgpu.hardware.gpus import GPU
from vgpu.tools.streams.model import copy_seconds

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
