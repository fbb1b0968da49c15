"""The map of memories says what the GPU's row says, and leaves out what no source gives."""

import pytest

from helpers import cp, gpus, plots, spaces
from vgpu.hardware.gpus import GPUS

SPREAD = r"""
__constant__ float fixed[4];
extern "C" __global__ void spread(const float* x, const int* which, float* out) {
    __shared__ float tile[32];
    float mine[32];
    int i = threadIdx.x;
    tile[i] = x[i];
    __syncthreads();
    for (int k = 0; k < 32; ++k) mine[k] = tile[k] * fixed[k % 4];
    out[i] = mine[which[i]];
}
"""


def test_the_map_of_an_a100_has_the_figures_of_its_row():
    drawing = plots.memory_map(gpus.find("A100"))
    for words in (
        "108 multiprocessors",
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
