"""Pictures of the hardware and of what hides latency: each says what its figures say."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from helpers import cp, cpus, diagnose, gpus, occupancy, plots, profile, spaces
from helpers.models.cache_model import Asked
from helpers.models.warp_scheduler import IssueSlots
from helpers.pictures.figures import PALETTE, show
from helpers.results.diagnose import SYMPTOMS
from helpers.workbook.run import unnamed_pictures
from vgpu.hardware.cache_measurements import REREAD
from vgpu.hardware.gpus import GPUS
from vgpu.tools.steps.dependencies import Chain
from vgpu.tools.streams.model import PINNED_FRACTION, STAGING

SPREAD = r"""
__constant__ float fixed[4];
extern "C" __global__ void spread(const float* x, const int* which, float* out) {
    __shared__ float tile[32];
    float mine[128];
    int i = threadIdx.x;
    tile[i] = x[i];
    __syncthreads();
    for (int k = 0; k < 128; ++k) mine[k] = tile[k % 32] * fixed[k % 4];
    out[i] = mine[which[i]];
}
"""


def test_the_map_of_an_a100_has_the_figures_of_its_row():
    drawing = plots.memory_map(gpus.find("A100"))
    for words in (
        "108 multiprocessors",
        ">16 FP32<",
        ">64 KiB<",
        ">192 KiB<",
        ">40 MiB<",
        ">80 GiB<",
        ">2.04 TB/s<",
        ">571 clocks<",
    ):
        assert words in drawing.svg, words
    assert drawing.finding.endswith("a load from shared memory takes 29 clocks, one from DRAM 571.")


@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_what_no_source_gives_is_left_out(gpu):
    drawing = plots.memory_map(gpu)
    assert "None" not in drawing.svg
    # The legend says the word once, then L2 and DRAM once each, and L1 and shared memory once each in one text.
    assert drawing.svg.count("clocks") == 1 + (gpu.l2_latency is not None) + (gpu.dram_latency is not None) + 2 * (
        gpu.l1_latency is not None
    )


def test_variables_stand_where_they_live():
    arguments = cp.zeros(32, "float32"), cp.zeros(32, "int32"), cp.zeros(32, "float32")
    found = spaces(cp.RawKernel(SPREAD, "spread"), 1, 32, arguments)
    drawing = plots.memory_map(gpus.find("A100"), [found, found])
    assert drawing.finding == (
        "Variables of spread, spread by the memory they live in: registers: i, k; shared memory: tile; "
        "local memory: mine; constant memory: fixed; global memory: x, which, out."
    )
    for words in (">i, k<", ">tile<", ">mine<", ">x, which, out<"):
        assert drawing.svg.count(words) == 1, words
    assert drawing.svg.count(">fixed<") == 2  # in DRAM, and in the cache of constants


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
    assert "Long: 8 kernels, 165 µs, GPU busy 97%" in found
    assert "short: 8 kernels, 42 µs, GPU busy 38%" in found
    assert "waited for: 8 kernels, 200 µs, GPU busy 80%" in found


@pytest.mark.parametrize(
    ("steps", "waits", "words"),
    [({}, {}, "1 to 4 steps"), ({"a": []}, {}, "a kernel"), ({"a": [1]}, {"b": [0]}, "'b'")],
)
def test_a_queue_says_what_it_cannot_draw(steps, waits, words):
    with pytest.raises(ValueError, match=words):
        plots.launch_queue(steps, 5, waits=waits)


def test_marks_are_counted_in_the_words():
    asked = (Asked("x", 0, 4, 0), Asked("x", 128, 4, 3), Asked("x", 0, 4, 4))
    picture = plots.cache_requests({"once": asked[:1], "thrice": asked}, 2048)
    assert (
        picture.finding
        == "A cache of 2 KiB (modelled): once: 0 of 4 sectors are found; thrice: 7 of 12 sectors are found."
    )
    lines = {line.get_label(): list(line.get_xdata()) for line in picture.figure.axes[1].lines}
    assert lines == {"found in the cache": [2], "not found: fetched": [0, 1]}


@pytest.mark.parametrize("count", [0, 1201])
def test_without_requests_or_with_too_many_nothing_is_drawn(count):
    with pytest.raises(ValueError, match=f"made {count:,} requests"):
        plots.cache_requests({"": (Asked("x", 0, 1, 0),) * count}, 2048)


@pytest.mark.parametrize("row", REREAD, ids=lambda row: row.name)
def test_published_rates_fall_where_l2_ends(row):
    assert row.nbytes == sorted(row.nbytes) and row.source.url.startswith("https://")
    near = [rate for size, rate in zip(row.nbytes, row.rates, strict=True) if size < row.l2_bytes / 2]
    far = [rate for size, rate in zip(row.nbytes, row.rates, strict=True) if size > 2 * row.l2_bytes]
    assert min(near) > 2.5 * max(far)


def test_the_curves_tell_both_ends():
    picture = plots.reread_bandwidth(REREAD)
    assert "A100 80 GB: 5.5 TB/s over 2 MiB, 1.7 TB/s over 1.02 GiB, with an L2 of 40 MiB" in picture.finding


def busy(warps: int, memory: float, issued: int = 10) -> IssueSlots:
    """A scheduler of so many warps whose memory is at work for a share of 100 clocks."""
    chain = Chain(kernel="k", links=())
    return IssueSlots("A100", chain, 100, ((),) * warps, ((0, 100 * memory),), 0, issued)


@pytest.mark.parametrize("name", gpus.GPUS)
def test_the_quarters_of_every_gpu_are_drawn_with_a_number_for_each_resident_warp(name):
    held = occupancy(56, 0, 256, gpus.find(name))
    picture = plots.sm_quarters(held, gpus.find(name))
    numbers = [text.get_text() for text in picture.figure.axes[0].texts if text.get_text().isdigit()]
    assert len(numbers) == held.warps_per_sm
    assert {int(number) for number in numbers} == set(range(held.blocks_per_sm))
    assert f"{held.warps_per_sm} of {held.max_warps_per_sm} warps" in picture.finding
    assert unnamed_pictures(show(picture).html()) == []


def test_bytes_in_flight_are_bandwidth_times_latency():
    picture = plots.bytes_in_flight([gpus.find("A100"), gpus.find("RTX 4090")], {"A100": 16 * 1024})
    # 2,039 GB/s over 108 SMs of 1.41 GHz, times 571 clocks: 7,646 bytes
    assert "A100: all warps request 8.0, Little's law needs 7.5, CUB aims at 16" in picture.finding
    assert picture.finding.endswith("RTX 4090: all warps request 6.0, Little's law needs 1.7.")


def test_a_latency_that_nobody_measured_is_asked_for():
    with pytest.raises(ValueError, match="no latency is known for T4"):
        plots.bytes_in_flight([gpus.find("T4")], {})


def test_curves_say_from_how_many_warps_on_a_unit_is_busy():
    found = {"late": [busy(4, 0.95), busy(1, 0.2)], "never": [busy(8, 0.5)]}
    picture = plots.hiding_curves(found)
    assert "late needs 4 warps and never gets to 50% at most" in picture.finding
    assert "one needs 2 warps" in plots.hiding_curves({"one": [busy(2, 0, issued=90)]}, "issue").finding


@pytest.mark.parametrize(
    "found, unit, words", [({}, "memory", "at least one kernel"), ({"k": []}, "L1", "unit is one of")]
)
def test_curves_say_what_they_need(found, unit, words):
    with pytest.raises(ValueError, match=words):
        plots.hiding_curves(found, unit)


N = 2**17
CODE = r"""
extern "C" __global__ void strided(const float* x, float* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t % (131072 / 8) * 8 + t / (131072 / 8);
    float y = x[i];
    for (int k = 0; k < ROUNDS; ++k) y = y * (1.5f - y * y);
    out[i] = y;
}
"""


def found(rounds: int, blocks: int = N // 256):
    kernel = cp.RawKernel(CODE, "strided", (f"-DROUNDS={rounds}",))
    return diagnose(
        profile(kernel, blocks, 256, (cp.ones(N, np.float32), cp.zeros(N, np.float32)), device="A100"), "it"
    )


def test_without_a_diagnosis_every_question_leads_on_and_to_a_fix():
    drawn = plots.questions()
    for symptom in SYMPTOMS:
        assert f">{symptom.question}<" in drawn.svg and f">{symptom.name} ({symptom.chapter})<" in drawn.svg
    assert drawn.svg.count(">no<") == drawn.svg.count(">yes<") == len(SYMPTOMS) + 1


@pytest.mark.parametrize(("rounds", "blocks", "words", "finding"), [
    (1, N // 256, "requested: ", "uncoalesced access; diagnosis: uncoalesced access"),
    (900, N // 256, "gains next to nothing", "uncoalesced access; diagnosis: compute-bound, no symptom worth fixing"),
    (900, 8, "requested: gains next to nothing", "launch too small and uncoalesced access; diagnosis: launch"),
], ids=["worth fixing", "not worth it", "two symptoms"])  # fmt: skip
def test_a_diagnosis_stands_beside_its_questions(rounds, blocks, words, finding):
    diagnosis = found(rounds, blocks)
    drawn = plots.questions(diagnosis)
    assert words in drawn.svg and drawn.finding.startswith(f"it, symptoms: {finding}")
    assert drawn.svg.count(">no<") == 1 + sum(answer.present for answer in diagnosis.answers)
