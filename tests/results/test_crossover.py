"""From which size on a GPU pays: counts scaled by the size, copies as streams have them, a CPU from its sheet."""

import math
from dataclasses import fields

import numpy as np
import pytest

from helpers import cp, cpus, cuda, gpus, plots, profile, streams
from helpers.results.crossover import COPIES, Counted, break_even

SAXPY = r"""
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
BLOCK, SAMPLE = 256, 1 << 13


def counted(elements=SAMPLE, kernel=None) -> Counted:
    kernel = kernel or cp.RawKernel(SAXPY, "saxpy")
    x, y = (cp.ones(elements, "float32") for _ in range(2))
    arguments = (np.float32(2), x, y, np.int32(elements))
    return Counted(profile(kernel, -(-elements // BLOCK), BLOCK, arguments), elements)


@pytest.mark.parametrize("gpu", ["A100", "T4", "RTX 4090"])
def test_a_small_launch_scaled_up_is_modelled_as_a_large_one_that_was_counted(gpu):
    large = 1 << 19
    scaled, direct = counted().kernel(large, gpu), counted(large).kernel(large, gpu)
    assert scaled.seconds == pytest.approx(direct.seconds, rel=1e-3)
    assert scaled.bound == direct.bound


def test_a_tiny_launch_still_has_a_block_and_costs_a_launch():
    model = counted().kernel(1, "A100")
    assert model.seconds > gpus.find("A100").launch_overhead and math.isfinite(model.seconds)


@pytest.mark.parametrize("pinned", [False, True])
def test_copies_are_what_a_recording_of_the_same_program_takes(pinned):
    elements = 1 << 18

    def host():
        if not pinned:
            return np.ones(elements, "float32")
        return np.frombuffer(cp.cuda.alloc_pinned_memory(4 * elements), "float32", count=elements)

    x, y = (cp.empty(elements, "float32") for _ in range(2))
    kernel, one, two = cp.RawKernel(SAXPY, "saxpy"), host(), host()
    with streams.record() as timeline:
        x.set(one)
        y.set(two)
        kernel((elements // BLOCK,), (BLOCK,), (np.float32(2), x, y, np.int32(elements)))
        y.get(out=two)
    seen = timeline.schedule("A100").seconds
    # The model asks once each way; the program asks for x and for y.
    launch = gpus.find("A100").launch_overhead
    model = counted().on_gpu(elements, "A100", COPIES[1 + pinned]) + launch
    # What the program hides: pageable, the kernel behind the request for the last copy; pinned, all requests but one.
    hidden = 3 * launch if pinned else counted().kernel(elements, "A100").seconds - launch
    assert model - seen == pytest.approx(hidden, abs=1e-9)


def test_copies_are_shared_by_the_launches_that_use_them():
    work, size = counted(), 1 << 20
    alone = work.on_gpu(size, "A100", "not counted")
    once, often = (work.on_gpu(size, "A100", "pinned", launches) for launches in (1, 10))
    assert once - alone == pytest.approx(10 * (often - alone))
    assert work.on_gpu(size, "A100", "pageable") > once > often > alone
    with pytest.raises(ValueError, match="copies are 'not counted', 'pageable', 'pinned'"):
        work.on_gpu(size, "A100", "free")


def test_a_cpu_takes_the_longer_of_memory_and_arithmetic():
    cpu = cpus.find("EPYC 7742")
    assert cpu.fp32_lanes_per_core == 16
    assert cpu.peak("fp32") == 64 * 16 * 2 * 2.25e9 == 2 * cpu.peak("fp64")
    size = 1 << 20
    assert counted().on_cpu(size, cpu) == pytest.approx(12 * size / (0.83 * 204.8e9))

    @cuda.jit
    def busy(a, x, y, n):
        i = cuda.grid(1)
        value = x[i]
        for _ in range(4096):
            value = a * value + a
        y[i] = value

    work = counted(256, busy)
    assert work.on_cpu(256, cpu) == pytest.approx(work.profile["flops_fp32"] / cpu.peak())


def test_every_figure_of_a_cpu_has_its_source():
    for cpu in cpus.CPUS.values():
        assert set(cpu.sources) == {column.name for column in fields(cpu)} - {"name", "sources"}
        assert all(source.url.startswith("https://") for source in cpu.sources.values())
        assert cpu.name in repr(cpu)
    with pytest.raises(KeyError, match="the table has EPYC 7742"):
        cpus.find("Cray-1")


@pytest.mark.parametrize(
    ("cpu_each", "gpu_each", "start", "border"),
    [
        (4.0, 1.0, 300.0, 100.0),
        (4.0, 1.0, 0.0, 1.0),  # from the first size on
        (1.0, 1.0, 5.0, None),
        (1.0, 2.0, 0.0, None),
    ],
)
def test_the_border_is_where_the_lines_cross(cpu_each, gpu_each, start, border):
    sizes = [2.0**power for power in range(16)]
    found = break_even(lambda n: cpu_each * n, lambda n: start + gpu_each * n, sizes)
    assert found == (None if border is None else pytest.approx(border, rel=2e-3))


def test_a_gpu_that_wins_for_a_while_has_not_won_for_good():
    sizes = [1.0, 2.0, 2.5, 4.0, 8.0]
    assert break_even(lambda n: 3.0, lambda n: 1.0 if n < 3 else n, sizes) is None
    assert break_even(lambda n: n, lambda n: 0.5 if n == 2 else 3.0, sizes) == pytest.approx(3, rel=0.01)


def test_amdahls_curves_say_what_the_law_gives():
    picture = plots.amdahl_curves((0.5, 0.95, 0.95), at=100)
    assert "50%: 1.98, 95%: 16.8; never more than 2, 20" in picture.finding


def test_a_plot_has_any_number_of_series():
    assert plots.amdahl_curves([share / 10 for share in range(1, 9)], at=100).finding.count("%") == 8


def test_growth_says_how_far_it_is_flat():
    picture = plots.growth({1: 1e-6, 2: 1e-6, 4: 1.05e-6, 8: 3e-6}, each="chains", source="made up")
    assert picture.finding == "4 chains take as long as 1, 1 µs; 8 take 3 times as long (made up)."


@pytest.mark.parametrize(("elements", "width", "words"), [
    (70, 32, "3 instructions of 32 lanes (warps), with 26 idle lanes"),
    (64, 8, "8 instructions of 8 lanes (warps), with 0 idle lanes"),
    (1, 8, "1 instruction of 8 lanes (warps), with 7 idle lanes"),
])  # fmt: skip
def test_elements_are_dealt_to_lanes(elements, width, words):
    drawing = plots.lane_deal(elements, {"warps": width})
    assert words in drawing.finding
    filled, idle = drawing.svg.count('fill="#0072b2"'), drawing.svg.count("stroke-dasharray")
    assert (filled, idle) == (elements, -(-elements // width) * width - elements)


def test_more_lanes_than_fit_are_refused():
    with pytest.raises(ValueError, match="1 to 32 lanes"):
        plots.lane_deal(70, {"wide": 64})
