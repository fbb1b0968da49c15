"""The kernels that the exercises of lab 08 hand to an answer, in CUDA C: a thread walks along the time of a series."""

from __future__ import annotations

import functools
from typing import Any

SMOOTH = r"""extern "C" __global__
void smooth(float* x, int series, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float level = 0;
    for (int t = 0; t < steps; ++t) {
        level = (level + x[t * series + i]) / 2;
        x[t * series + i] = level;
    }
}"""
CARRY = r"""extern "C" __global__
void smooth(float* x, float* level, int series, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float held = level[i];
    for (int t = 0; t < steps; ++t) {
        held = (held + x[t * series + i]) / 2;
        x[t * series + i] = held;
    }
    level[i] = held;
}"""
LAYER = r"""extern "C" __global__
void layer(const float* x, float* y, int series, int steps, int backward) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float level = 0;
    for (int k = 0; k < steps; ++k) {
        int t = backward ? steps - 1 - k : k;
        level = (level + x[t * series + i]) / 2;
        y[t * series + i] = level;
    }
}"""
ADD = r"""extern "C" __global__
void add(float* x, const float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += y[i];
}"""


@functools.cache
def kernel(source: str, name: str) -> Any:
    """A kernel in CUDA C, once for all cases."""
    from vgpu.standins import cupy as cp

    return cp.RawKernel(source, name)
