"""The table of GPUs: complete, sourced, and in agreement with itself."""

from dataclasses import fields
from itertools import pairwise

import pytest

from vgpu import gpus
from vgpu.hardware.gpus import GPUS

EVERY = pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
# What is no figure, or the same on every GPU CUDA has ever run on.
UNSOURCED = {"name", "sources"}


@EVERY
def test_every_figure_has_a_source(gpu):
    figures = {field.name for field in fields(gpu) if getattr(gpu, field.name) is not None} - UNSOURCED
    assert figures - set(gpu.sources) == set()
    for name in figures:
        assert gpu.sources[name].title and gpu.sources[name].url.startswith("https://"), name


@EVERY
@pytest.mark.parametrize("figure", ["memory_bytes", "memory_bandwidth"])
def test_what_no_other_figure_checks_has_a_source_that_names_this_gpu(gpu, figure):
    """Not the white paper of the family, which describes another product."""
    assert gpu.name in gpu.sources[figure].title


@EVERY
@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_peak_is_lanes_times_clock(gpu, precision):
    assert gpu.peak(precision) == pytest.approx(getattr(gpu, f"{precision}_flops"), rel=0.02)


@EVERY
def test_tensor_peaks_double_as_types_become_half_as_wide(gpu):
    """Which a figure with sparsity among others without it doesn't."""
    peaks = [gpu.tf32_tensor_flops, gpu.fp16_tensor_flops, gpu.fp8_tensor_flops]
    for wide, narrow in pairwise(peak for peak in peaks if peak is not None):
        assert narrow == pytest.approx(2 * wide, rel=0.02)
    if gpu.int8_tensor_ops is not None:  # FP32 accumulation halves the rate of GeForce's floats, not of its integers
        assert gpu.int8_tensor_ops / gpu.fp16_tensor_flops == pytest.approx(
            4 if "GeForce" in gpu.product else 2, rel=0.02
        )


@EVERY
def test_limits_agree_with_each_other(gpu):
    assert gpu.threads_per_sm == gpu.warp_size * gpu.warps_per_sm
    assert gpu.shared_limit <= gpu.shared_optin_limit <= gpu.shared_per_sm - gpu.shared_reserved
    assert gpu.registers_per_sm % (gpu.partitions_per_sm * gpu.register_granularity) == 0
    assert gpu.shared_reserved == (1024 if gpu.compute_capability >= (8, 0) else 0)


@EVERY
def test_l2_is_faster_than_dram_where_it_is_known(gpu):
    assert gpu.l2_bandwidth is None or gpu.l2_bandwidth > gpu.memory_bandwidth


@EVERY
def test_memories_are_slower_the_further_away_they_are(gpu):
    known = [gpu.instruction_latency, gpu.shared_latency, gpu.l1_latency, gpu.l2_latency, gpu.dram_latency]
    known = [clocks for clocks in known if clocks is not None]
    assert known == sorted(known) and len(set(known)) == len(known)
    assert gpu.shared_per_sm <= gpu.l1_bytes < gpu.memory_bytes


def test_named_gpus_are_there():
    wanted = {"T4", "V100", "A100", "RTX 3090", "RTX 4090", "L4", "H100", "H200", "B200"}
    assert wanted <= set(GPUS)


def test_rows_are_frozen():
    with pytest.raises(AttributeError):
        GPUS["A100"].sms = 1
    with pytest.raises(TypeError):
        GPUS["A100"].sources["sms"] = None


@pytest.mark.parametrize("name", ["a100", "A100", "rtx4090", "RTX-4090", " rtx 4090 "])
def test_find_ignores_case_and_spacing(name):
    assert gpus.find(name).name in ("A100", "RTX 4090")


def test_find_names_the_nearest():
    with pytest.raises(KeyError, match=r"RTX 409O.*Did you mean .*RTX 4090.*The table has T4"):
        gpus.find("RTX 409O")  # the letter


@pytest.mark.parametrize(
    "product, capability, name",
    [
        ("NVIDIA A100-SXM4-80GB", (8, 0), "A100"),
        ("NVIDIA GeForce RTX 4090", (8, 9), "RTX 4090"),
        ("Tesla T4", (7, 5), "T4"),
        ("NVIDIA L4", (8, 9), "L4"),
        ("NVIDIA H200", (9, 0), "H200"),
        ("NVIDIA L40", (8, 9), "RTX 4090"),  # not an L4: only its capability is alike
        ("GeForce GTX 950M", (5, 0), "A100"),  # nothing alike: the default
    ],
)
def test_nearest_row_of_a_real_product(product, capability, name):
    assert gpus.nearest(product, capability).name == name


def test_repr_and_html():
    gpu = GPUS["A100"]
    assert repr(gpu) == (
        "GPU(A100: A100 SXM4 80 GB, Ampere, compute capability 8.0, 108 SMs at 1.41 GHz, 19.5 TFLOP/s FP32, 2039 GB/s)"
    )
    html = gpu._repr_html_()
    assert "<caption" in html and 'scope="row"' in html
    assert "not published" in html  # an A100 has no FP8 units
    assert gpu.arch == "sm_80"
