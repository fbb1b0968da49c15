"""Values that are the same in all lanes, and kept once for a warp."""

import numpy as np
import pytest

SOURCE = r"""
typedef REAL T;
extern "C" __global__ void k(const T* x, T* y, int n) {
    __shared__ T s[2];
    if (threadIdx.x < 2) s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    T m = s[0];
    for (int i = 0; i < n / 64; ++i) m = ROUNDED;
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = m + x[i];
}
"""
DIRECTED = {
    "__fmaf_rd(m, s[0], s[1])": "float", "__fadd_rz(m, s[1])": "float", "__fmul_ru(m, s[1])": "float",
    "__fdiv_rd(m, s[1])": "float", "__fsqrt_rz(m)": "float", "__frcp_ru(m)": "float",
    "__fma_rd(m, s[0], s[1])": "double", "__dadd_ru(m, s[1])": "double", "__dmul_rz(m, s[1])": "double",
}  # fmt: skip


@pytest.mark.parametrize("rounded", DIRECTED)
def test_directed_rounding_gives_one_value_for_the_warp(engine, rounded):
    """As many as lanes would be stored over the registers beside it: here the block's size, so that a loop ends."""
    real = DIRECTED[rounded]
    x = np.full(256, 1.25, "f4" if real == "float" else "f8")
    y = np.zeros_like(x)
    engine.c(SOURCE.replace("REAL", real).replace("ROUNDED", rounded), "k")(1, 64, x, y, np.int32(256))
    assert (y == y[0]).all() and y[0] > 1.25


def test_a_softmax_whose_warps_are_joined_by_all_threads(engine):
    source = r"""
extern "C" __global__ void k(const float* x, float* y, int n) {
    __shared__ float sums[32];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(x[i]);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) sum = logf(expf(sum) + sums[warp]);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = expf(x[i]) / sum;
}
"""
    x = np.linspace(-1, 1, 256, dtype=np.float32)
    y = np.zeros_like(x)
    engine.c(source, "k")(1, 64, x, y, np.int32(256))
    total = 0.0
    for of_a_warp in np.exp(x).reshape(4, 2, 32).sum((0, 2)):
        total = np.log(np.exp(total) + of_a_warp)
    np.testing.assert_allclose(y, np.exp(x) / total, rtol=1e-5)
