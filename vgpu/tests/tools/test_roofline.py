"""Rooflines against sums done by hand on the data sheet's figures, and FLOPs against those a kernel's source spells."""

from types import SimpleNamespace

import numpy as np
import pytest

from vgpu import cp, cuda, profile
from vgpu.hardware.gpus import GPUS
from vgpu.tools.roofline import (
    MEMORIES,
    bandwidth,
    bytes_moved,
    flops_by_unit,
    peak_flops,
    place,
    rate_text,
    roofline,
    scaled,
    seconds_text,
)

A100 = GPUS["A100"]
N = 1000  # no multiple of a warp: lanes that are switched off must not count


def test_left_of_the_ridge_is_memory_bound():
    # saxpy: 2 FLOPs for 12 bytes.
    point = roofline(2e9, 12e9, A100)
    assert point.intensity == pytest.approx(1 / 6)
    assert point.attainable == pytest.approx(2039e9 / 6)
    assert point.bound == "memory"
    assert repr(point).startswith("Point(modelled on A100: 0.167 FLOP/byte")
    assert roofline(2e9, 12e9, "a100") == point


def test_right_of_the_ridge_is_compute_bound():
    point = roofline(1e12, 1e9, A100)
    assert (point.attainable, point.bound) == (A100.peak("fp32"), "compute")
    assert roofline(point.ridge * 1e9, 1e9, A100).bound == "compute"


def test_tensor_units_have_their_own_roof():
    assert peak_flops(A100, "fp16_tensor") == 312e12
    with pytest.raises(ValueError, match="no document gives the FP8 tensor peak of A100"):
        peak_flops(A100, "fp8_tensor")
    assert "19,500 GFLOP/s FP64 tensor, compute-bound" in repr(roofline(1e9, 1, A100, "fp64_tensor"))
    with pytest.raises(ValueError, match="0 bytes have no intensity"):
        roofline(1, 0, A100)


def test_each_memory_has_a_slope_of_its_own():
    assert bandwidth(A100) == 2039e9
    assert bandwidth(A100, "L2") == 5120 * 1.41e9
    assert bandwidth(A100, "L1") == 128 * 108 * 1.41e9
    point = roofline(1, 1, A100, memory="L2")
    assert point.ridge == pytest.approx(2 * 64 * 108 * 1.41e9 / (5120 * 1.41e9))
    assert "1 FLOP/byte of L2 allow 7,219 GFLOP/s" in repr(point)
    with pytest.raises(ValueError, match="no document gives the L2 bandwidth of H100; the table has it for V100, A100"):
        bandwidth(GPUS["H100"], "L2")
    with pytest.raises(ValueError, match="bytes are counted at DRAM, L2, L1, not at 'L3'"):
        bandwidth(A100, "L3")


@pytest.mark.parametrize("gpu", GPUS)
def test_nearer_memories_are_faster(gpu):
    slopes = [found for memory in MEMORIES.values() if (found := memory.bandwidth(GPUS[gpu]))]
    assert slopes == sorted(slopes)


# ---------------------------------------------------------------- FLOPs of kernels, counted

OPERATIONS = r"""
#include <cuda_fp16.h>
#define EACH(NAME, TYPE, WHAT) extern "C" __global__ void NAME(const TYPE* x, TYPE* out, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { TYPE v = x[i]; out[i] = WHAT; } }
EACH(sum, float, v + 1)
EACH(difference, float, 1 - v)
EACH(times, float, v * 3)
EACH(fused, float, v * v + 1)
EACH(twice, float, (v * v + 1) * v + 2)
EACH(quotient, float, 1 / v)
EACH(largest, float, fmaxf(v, 0))
EACH(wide, double, v * v + 1)
EACH(one_half, __half, __hfma(v, v, v))
EACH(pair, __half2, __hfma2(v, v, v))
EACH(whole, int, v * v + 1)
"""
TYPES = {"wide": "float64", "one_half": "float16", "pair": "float16", "whole": "int32"}


@pytest.mark.parametrize(
    ("name", "unit", "each"),
    [
        ("sum", "fp32", 1),
        ("difference", "fp32", 1),
        ("times", "fp32", 1),
        ("fused", "fp32", 2),
        ("twice", "fp32", 4),
        ("quotient", "fp32", 0),
        ("largest", "fp32", 0),
        ("wide", "fp64", 2),
        ("one_half", "fp16", 2),
        ("pair", "fp16", 4),
        ("whole", "fp32", 0),
    ],
)
def test_flops_are_those_of_the_source(name, unit, each):
    kind = TYPES.get(name, "float32")
    x, out = cp.ones(2 * N, kind), cp.zeros(2 * N, kind)
    counted = profile(cp.RawKernel(OPERATIONS, name), 4, 256, (x, out, np.int32(N)))
    assert counted["flops"] == each * N
    assert flops_by_unit(counted.total) == ({unit: each * N} if each else {})


@cuda.jit
def numba_fused(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * x[i] + np.float32(1)


@cuda.jit
def numba_slip(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * x[i] + 0.1  # with 1.0 the compiler sees that float32 will do


def test_numba_counts_alike_and_a_python_float_may_be_double():
    x, out = cp.ones(N, "float32"), cp.zeros(N, "float32")
    assert flops_by_unit(profile(numba_fused, 4, 256, (x, out)).total) == {"fp32": 2 * N}
    slip = flops_by_unit(profile(numba_slip, 4, 256, (x, out)).total)
    assert slip["fp64"] >= N and sum(slip.values()) == 2 * N


def test_products_of_tensor_cores_count_as_their_own_units():
    by_type = {"fp16": 4096, "bf16": 1, "tf32": 2, "fp8": 3, "fp64": 4}
    total = {"flops_fp32": 5, "ops_tensor_int8": 9} | {f"flops_tensor_{name}": flops for name, flops in by_type.items()}
    assert flops_by_unit(total) == {"fp32": 5, "fp16_tensor": 4097, "tf32_tensor": 2, "fp8_tensor": 3, "fp64_tensor": 4}


def test_intensity_is_a_metric_of_the_profile():
    x, out = cp.ones(1024, "float32"), cp.zeros(1024, "float32")
    counted = profile(cp.RawKernel(OPERATIONS, "fused"), 4, 256, (x, out, np.int32(1024)))
    assert counted["footprint_bytes"] == 8 * 1024
    assert counted["intensity"] == counted["l2_intensity"] == counted["l1_intensity"] == 0.25
    assert counted.metrics()["flops"] == 2048


# ---------------------------------------------------------------- places under the roof


def launched(bound="DRAM", seconds=1e-3, read=8_000_000, gpu=A100, **total):
    counters = SimpleNamespace(
        total={"global_load_sectors": read // 32, "global_load_bytes": read, "global_load_requests": read // 128}
        | total,
        footprint=SimpleNamespace(read_bytes=read, written_bytes=0),
    )
    return SimpleNamespace(
        name="it", gpu=gpu, counters=counters, model=SimpleNamespace(bound=bound, seconds=seconds, gpu=gpu.name)
    )


def test_a_place_is_flops_over_bytes_and_seconds():
    found = place(launched(flops_fp32=16_000_000))
    assert (found.intensity, found.rate, found.precision, found.state) == (2, 16e9, "fp32", "memory")
    assert found.share == pytest.approx(16e9 / (2 * 2039e9))
    assert found.ridge == roofline(1, 1, A100).ridge
    assert repr(found) == "it on A100: counted 2 FLOP/B; modelled 1 ms, 16 GFLOP/s, 0% of roof; memory-bound: DRAM"
    assert "counted 2 FLOP/B of L2;" in repr(place(launched(flops_fp32=16_000_000), memory="L2"))


def test_right_of_the_ridge_the_share_is_of_the_peak():
    found = place(launched("FP32", flops_fp32=8_000_000 * 100), seconds=1e-4)
    assert found.share == pytest.approx(8e12 / A100.peak("fp32"))
    assert found.measured and found.state == "compute" and "measured" in repr(found)


def test_units_that_do_most_of_the_work_give_the_roof():
    assert place(launched(flops_fp32=10, flops_fp64=11)).precision == "fp64"
    assert place(launched(flops_fp32=10, flops_tensor_fp16=4096)).precision == "fp16_tensor"


def test_a_copy_has_no_intensity_and_a_share_of_the_bandwidth():
    found = place(launched())
    assert (found.intensity, found.rate) == (0, 0)
    assert found.share == pytest.approx(8e9 / 2039e9)


def test_without_a_known_roof_a_launch_has_a_place_and_no_share():
    found = place(launched(flops_fp32=16_000_000, gpu=GPUS["H100"]), memory="L2")
    assert (found.intensity, found.share, found.ridge) == (2, None, None)
    assert "roof not known; memory-bound: DRAM" in repr(found)


@pytest.mark.parametrize(
    ("bound", "state"),
    [
        ("DRAM", "memory"),
        ("L2", "memory"),
        ("L1 and shared memory", "memory"),
        ("FP32", "compute"),
        ("issue", "compute"),
        ("special functions", "compute"),
        ("tensor FP16", "compute"),
        ("latency", "latency"),
        ("launch", "latency"),
    ],
)
def test_every_bound_of_the_model_is_one_of_three_states(bound, state):
    assert place(launched(bound, flops_fp32=1)).state == state


def test_bytes_are_those_that_the_time_model_uses():
    x, out = cp.zeros(4096, "float32"), cp.zeros(4096, "float32")
    counted = profile(numba_fused, 16, 256, (x, out))
    for memory, term in (("L2", "L2"), ("L1", "L1 and shared memory")):
        moved = bytes_moved(counted.counters, memory)
        # 16 blocks on 108 SMs: the busiest SM does 1/16 of the work in L1, and L2 serves all.
        slowed = 108 / 16 if memory == "L1" else 1
        assert counted.model.terms[term] == pytest.approx(moved / bandwidth(A100, memory) * slowed)


@pytest.mark.parametrize("gpu", ["T4", "A100", "H100"])
def test_no_kernel_is_above_the_roof(gpu):
    x, out = cp.zeros(1 << 20, "float32"), cp.zeros(1 << 20, "float32")
    counted = profile(numba_fused, 4096, 256, (x, out))
    found = place(counted, gpu)
    assert found.gpu == gpu and 0 < found.share <= 1


def test_a_scaled_gpu_has_other_roofs_and_the_same_sms():
    wide = scaled(A100, arithmetic=2, memory=0.5)
    assert wide.name == "A100, 2 × lanes, 0.5 × bandwidth"
    assert peak_flops(wide) == 2 * peak_flops(A100) and bandwidth(wide) == bandwidth(A100) / 2
    assert peak_flops(wide, "fp16_tensor") == 624e12 and bandwidth(wide, "L1") == bandwidth(A100, "L1")
    assert bandwidth(wide, "L2") == bandwidth(A100, "L2") / 2
    assert (wide.sms, wide.arch) == (A100.sms, A100.arch)
    assert scaled(A100) is A100
    assert (
        scaled(A100, arithmetic=0.027).fp64_lanes_per_sm == 1 and scaled(A100, arithmetic=0.001).fp64_lanes_per_sm == 1
    )
    with pytest.raises(ValueError, match="factors above 0"):
        scaled(A100, memory=0)


@pytest.mark.parametrize(
    ("rate", "text"),
    [(19.5e12, "19.5 TFLOP/s"), (2.25e15, "2.25 PFLOP/s"), (999.6e9, "1 TFLOP/s"), (1e9, "1 GFLOP/s"), (5, "5 FLOP/s")],
)
def test_rates_have_a_prefix(rate, text):
    assert rate_text(rate) == text


@pytest.mark.parametrize(
    "seconds, text",
    [
        (2, "2 s"),
        (0.0123, "12.3 ms"),
        (5e-6, "5 µs"),
        (1e-9, "1 ns"),
        (0, "0 ns"),
        (0.99999e-6, "1 µs"),
        (0.999e-6, "999 ns"),
    ],
)
def test_units_of_time(seconds, text):
    assert seconds_text(seconds) == text
