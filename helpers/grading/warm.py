"""What a judge does once before it is forked: it judges a kernel of each language, so that jobs compile only theirs."""

from __future__ import annotations

import numpy as np

from helpers.evidence import answer_in, inputs_of, taken
from helpers.examine import examine
from helpers.exercises import Budget, Case, Exercise, Out

THREADS = 64

C_KERNEL = r"""
extern "C" __global__ void warm(float* y, const float* x, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float other = __shfl_xor_sync(0xffffffff, tile[threadIdx.x ^ 1], 1);
    if (i < n) y[i] = other;
}
"""


def judge() -> None:
    """Judge both kernels, under the sanitizer and with counters."""
    from helpers import cp, cuda
    from helpers.vgpu import grid

    @cuda.jit
    def warm(y, x, n):
        tile = cuda.shared.array(64, "float32")
        i = cuda.grid(1)
        tile[cuda.threadIdx.x] = x[i] if i < n else 0
        cuda.syncthreads()
        other = cuda.shfl_xor_sync(0xFFFFFFFF, tile[cuda.threadIdx.x ^ 1], 1)
        if i < n:
            y[i] = other

    for language, kernel in (("cuda", cp.RawKernel(C_KERNEL, "warm")), ("numba", warm)):
        task = exercise(language)
        seen = examine(answer_in(taken(kernel, inputs_of(task)), task), task)
        if not seen.passed:
            raise RuntimeError(f"a kernel that is right is judged wrong: {seen}")
    grid.rest()


def exercise(language: str) -> Exercise:
    x = np.arange(THREADS, dtype=np.float32)
    case = Case("all", (Out(x), x, np.int32(THREADS)), (1,), (THREADS,))
    budgets = tuple(Budget(of, lambda seen: 0.0, 1.0, "", of=of) for of in ("launch", "warp"))
    return Exercise("warm", "", language, "warm", lambda: [case], ("", "", ""), sanitize=True, budgets=budgets)
