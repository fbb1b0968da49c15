"""The kernels that exercises of lab 14 hand to an answer, in CUDA C: right and plain, straight from global memory."""

from __future__ import annotations

import functools
from typing import Any

PROJECT = r"""extern "C" __global__
void project(const float* x, const float* W, const float* bias, float* out, int rows, int inputs, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * columns) return;
    int row = i / columns, column = i % columns;
    float sum = bias[column];
    for (int k = 0; k < inputs; ++k)
        sum += x[row * inputs + k] * W[column * inputs + k];
    out[i] = sum;
}"""
STEP = r"""extern "C" __global__
void step(const float* from_input, const float* U, const float* state, const int* lengths,
          float* fresh, int t, int batch, int hidden) {
    int unit = 16 * blockIdx.x + threadIdx.x, row = 16 * blockIdx.y + threadIdx.y;
    if (unit >= hidden || row >= batch) return;
    const float* old = state + row * 2 * hidden;      // the row's h; its c follows
    float h = old[unit], c = old[hidden + unit];
    if (t < lengths[row]) {
        float z[4];
        for (int gate = 0; gate < 4; ++gate) {
            z[gate] = from_input[(row * 4 + gate) * hidden + unit];
            for (int k = 0; k < hidden; ++k)
                z[gate] += old[k] * U[(gate * hidden + unit) * hidden + k];
        }
        float i = 1 / (1 + expf(-z[0])), f = 1 / (1 + expf(-z[1])), g = tanhf(z[2]), o = 1 / (1 + expf(-z[3]));
        c = f * c + i * g;
        h = o * tanhf(c);
    }
    fresh[row * 2 * hidden + unit] = h;
    fresh[row * 2 * hidden + hidden + unit] = c;
}"""


@functools.cache
def kernel(source: str, name: str) -> Any:
    """A kernel in CUDA C, once for all cases."""
    from vgpu.standins import cupy as cp

    return cp.RawKernel(source, name)
