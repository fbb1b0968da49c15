"""Counts carried on to other sides: exact for products in tiles, refused where there is nothing to carry."""

import numpy as np
import pytest

from helpers import Launch, cp, gpus, grown_ladder, growth
from vgpu.base.errors import CompileError

TILES = r"""
extern "C" __global__ void tiles(const float* a, const float* b, float* c, int n) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[y][x] = a[row * n + k + x];
        right[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" __global__ void copy(const float* a, const float* b, float* c, int n) {
    c[blockIdx.x * n + threadIdx.x] = a[blockIdx.x * n + threadIdx.x];
}
"""


def tiles(side: int) -> Launch:
    a, b, c = (cp.ones((side, side), "float32") for _ in range(3))
    kernel = cp.RawKernel(TILES, "tiles")
    return Launch(kernel, (side // 16, side // 16), (16, 16), (a, b, c, np.int32(side)), "tiles of 16", out=c)


@pytest.fixture(scope="module")
def grown():
    return growth(tiles, (32, 64))


def test_a_third_run_counts_what_was_extrapolated(grown):
    assert grown.holds(tiles(48).profile(), 48)
    assert grown.counts(48).grid[:2] == (3, 3)
    assert not grown.holds(tiles(48).profile(), 80)


def test_flops_and_bytes_of_a_large_side_are_those_of_the_formula(grown):
    counts = grown.counts(4096)
    assert counts.total["flops_fp32"] == 2 * 4096**3
    assert 32 * counts.total["global_load_sectors"] == 2 * 4 * 4096**3 // 16
    assert counts.footprint.read_bytes == 2 * 4 * 4096**2
    assert grown.profile(4096)["l2_intensity"] == pytest.approx(2 * 16 / (2 * 4 + 4 * 16 / 4096))


def test_a_share_is_of_the_peak_or_of_a_librarys_rate(grown):
    share = grown.share("A100", 4096)
    assert 0.05 < share < 0.5
    assert grown.share("A100", 4096, library=gpus.find("A100").peak("fp32") / 2) == pytest.approx(2 * share)
    assert grown.unit() == "fp32"


def test_a_table_shows_what_is_extrapolated_and_what_was_published(grown):
    table = grown_ladder({"tiles": grown}, 4096, ["registers", "flops"], published={"share": {"tiles": "13 %"}})
    assert table.columns == (("registers", "compiler"), ("flops", "counted"), ("share", "published"))
    assert table.rows[0][1] == "tiles of 16" and table.rows[0][2][1:] == ("137 G", "13 %")


def test_what_cannot_grow_is_refused():
    copied = lambda side: Launch(cp.RawKernel(TILES, "copy"), side, side, tiles(side).args)
    with pytest.raises(ValueError, match="copy does no floating-point operation"):
        growth(copied, (32, 64))
    with pytest.raises(ValueError, match="the smaller one first"):
        growth(tiles, (64, 32))
    with pytest.raises(TypeError, match="not a int"):
        growth(lambda side: side, (32, 64))


def test_a_kernel_for_newer_gpus_says_so_for_older_ones():
    source = r"""
    extern "C" __global__ void mma(const float* a, const float* b, float* c, int n) {
        float d[4] = {};
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, "
                     "{%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(b[0])));
        c[threadIdx.x] = d[0];
    }"""
    launch = lambda side: Launch(cp.RawKernel(source, "mma"), (side, side), 32, tiles(32).args)
    found = growth(launch, (1, 2))
    assert found.unit() == "fp16_tensor" and found.share("A100", 64) > 0
    with pytest.raises(CompileError):
        found.share("T4", 64)
