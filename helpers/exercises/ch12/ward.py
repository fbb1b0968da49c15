"""The kernels of `ch12.bottleneck`, each with one problem or none, and their profiles."""

from __future__ import annotations

from functools import cache

import numpy as np

from helpers.checking.exercise import Case

GPU = "A100"
"""The GPU of the profiles that are to be diagnosed, whichever is chosen."""
PATIENTS = r"""
extern "C" __global__ void chunks(const float* x, float* out, int n) {
    int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + 8; ++i) out[i] = 2 * x[i];
}
extern "C" __global__ void copy(const float* x, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 2 * x[i];
}
extern "C" __global__ void pairs(const double* x, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
extern "C" __global__ void roots(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i], r = value;
    if (i % 4 == 0) for (int k = 0; k < 30; ++k) r = value / (value + r);
    out[i] = r;
}
extern "C" __global__ void rows(const float* x, float* out, int n) {
    __shared__ float tile[256 * 16];
    int t = threadIdx.x;
    for (int k = t; k < 256 * 16; k += 256) tile[k] = x[(blockIdx.x * 256 * 16 + k) % n];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum += tile[16 * t + k];
    out[blockIdx.x * 256 + t] = sum;
}
extern "C" __global__ void quads(const float4* x, float4* out, int n) {
    __shared__ float4 tile[256];
    tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}
"""
# Name of the case, kernel, blocks of 256 threads, elements, what ails it.
WARD = (
    ("one block for all", "copy", 1, 2**16, "launch too small"),
    ("eight floats a thread, one after another", "chunks", 512, 2**20, "uncoalesced access"),
    ("every fourth lane iterates", "roots", 512, 2**17, "divergence"),
    ("rows of 16 floats in shared memory", "rows", 512, 2**17, "bank conflicts"),
    ("doubles, side by side", "pairs", 512, 2**17, "none"),
    ("a guard at the end", "copy", 600, 2**17 + 77, "none"),
    ("float4 through shared memory", "quads", 512, 2**17, "none"),
)


@cache
def ward() -> tuple[Case, ...]:
    """A profile of each patient, and what ails it."""
    from vgpu.standins import cupy as cp
    from vgpu.tools.profile import profile

    cases = []
    for name, kernel, blocks, n, ails in WARD:
        dtype = np.float64 if kernel == "pairs" else np.float32
        x, out = cp.full(4 * n, 2, dtype), cp.zeros(4 * n, dtype)
        counted = profile(cp.RawKernel(PATIENTS, kernel), blocks, 256, (x, out, np.int32(n)), device=GPU)
        cases.append(Case(name, (counted,), expected=ails))
    return tuple(cases)
