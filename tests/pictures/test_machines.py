"""A core beside an SM, the roads of data, a queue of launches: what is drawn follows from the figures given."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from helpers import cpus, gpus, plots
from helpers.pictures.figures import PALETTE, show
from helpers.workbook.run import unnamed_pictures
from vgpu.tools.streams.model import PINNED_FRACTION, STAGING

CPU = cpus.find("EPYC 7742")


def areas(drawing, colour: str) -> list[float]:
    """The areas of all boxes of one colour, in the order in which they are drawn."""
    boxes = re.findall(rf'width="([\d.]+)" height="([\d.]+)" rx="2" fill="{PALETTE[colour]}"', drawing.svg)
    return [float(width) * float(height) for width, height in boxes]


@pytest.mark.parametrize("name", gpus.GPUS)
def test_an_sm_has_a_square_for_each_lane_and_memories_by_area(name):
    gpu = gpus.find(name)
    drawing = plots.core_and_sm(CPU, gpu)
    assert len(areas(drawing, "blue")) == CPU.fp32_lanes_per_core + gpu.fp32_lanes_per_sm
    assert len(areas(drawing, "vermilion")) == 1 + gpu.partitions_per_sm
    l1, l2, l3, shared, share = areas(drawing, "sky")
    assert l3 / l2 == pytest.approx(CPU.l3_bytes / CPU.cores / CPU.l2_bytes, rel=1e-3)
    assert shared / l1 == pytest.approx(gpu.l1_bytes / CPU.l1_bytes, rel=1e-3)
    assert share / l2 == pytest.approx(gpu.l2_bytes / gpu.sms / CPU.l2_bytes, rel=1e-3)
    assert f"for {gpu.threads_per_sm:,} threads" in drawing.finding
    assert unnamed_pictures(show(drawing).html()) == []


def test_what_no_document_gives_is_left_out():
    unknown = replace(gpus.find("A100"), l2_bytes=None)
    assert len(areas(plots.core_and_sm(CPU, unknown), "sky")) == 4


def test_roads_are_as_wide_as_their_bandwidths():
    gpu = gpus.find("A100")
    drawing = plots.data_roads(CPU, gpu)
    (own, device), (link, *copies) = areas(drawing, "sky"), areas(drawing, "vermilion")
    assert device / own == pytest.approx(gpu.memory_bandwidth / CPU.memory_bandwidth, rel=1e-3)
    assert device / link == pytest.approx(gpu.memory_bandwidth / gpu.host_bandwidth, rel=1e-3)
    assert "6.4 times as fast from their own memory, and the SMs 64 times" in drawing.finding
    sheet, pinned, pageable = copies
    assert sheet / link == pytest.approx(10, rel=1e-2)
    assert pinned / sheet == pytest.approx(PINNED_FRACTION, rel=1e-2)
    assert pageable / sheet == pytest.approx(STAGING / gpu.host_bandwidth, rel=1e-2)
    assert "from pageable memory 6 GB/s" in drawing.finding
    with pytest.raises(ValueError, match="no document gives the link"):
        plots.data_roads(CPU, replace(gpu, host_bandwidth=None))


def test_a_queue_of_launches_is_as_long_as_its_slower_clock():
    steps = {"long": [20] * 8, "short": [2] * 8, "waited for": [20] * 8}
    found = plots.launch_queue(steps, launch=5, waits={"waited for": range(8)}).finding
    assert "Long: 8 kernels, 165 µs, GPU at work 97%" in found
    assert "short: 8 kernels, 42 µs, GPU at work 38%" in found
    assert "waited for: 8 kernels, 200 µs, GPU at work 80%" in found


@pytest.mark.parametrize(
    ("steps", "waits", "words"),
    [({}, {}, "1 to 4 steps"), ({"a": []}, {}, "a kernel"), ({"a": [1]}, {"b": [0]}, "'b'")],
)
def test_a_queue_says_what_it_cannot_draw(steps, waits, words):
    with pytest.raises(ValueError, match=words):
        plots.launch_queue(steps, 5, waits=waits)
