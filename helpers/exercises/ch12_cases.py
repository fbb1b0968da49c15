"""Cases and budgets of the exercises on profiling, and how mistakes show in them."""

from __future__ import annotations

from functools import cache

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Out, cover

GPU = "A100"
"""The GPU of the profiles that are to be diagnosed, whichever is chosen."""
COLUMNS, ROUNDS, BLOCK = 16, 40, 256


# -- effective bandwidth --------------------------------------------------------------------------------


def effective_of(n: int, seconds: float, peak: float, nbytes: int = 12, giga: float = 1e9) -> tuple[float, float]:
    rate = nbytes * n / seconds
    return round(rate / giga, 1), round(100 * rate / peak, 1)


def bandwidth_cases() -> list[Case]:
    launches = (
        ("2²⁴ floats on an A100", (2**24, 0.158e-3, 2039e9)),
        ("1,000,003 floats on a T4", (1_000_003, 48e-6, 320e9)),
        ("4,096 floats on an H100", (4096, 5e-6, 3352e9)),
    )
    return [Case(name, arguments, expected=effective_of(*arguments)) for name, arguments in launches]


def gives_with(**wrong):
    return known.gives(lambda case: effective_of(*case.arguments, **wrong))


def pair(formula):
    """In every case the two numbers are what `formula(rate, peak)` gives, to a few digits."""

    def when(evidence) -> bool:
        return not all(o.ok for o in evidence.outcomes) and all(
            isinstance(o.got, tuple | list)
            and len(o.got) == 2
            and all(isinstance(each, float | int) for each in o.got)
            and np.allclose(o.got, formula(12 * o.case.arguments[0] / o.case.arguments[1], o.case.arguments[2]), 1e-5)
            for o in evidence.outcomes
        )

    return when


def returned(test):
    """In some case that is wrong, what is returned is such a thing."""
    return lambda evidence: any(
        o.error is None and not o.ok and test(o.got, o.case.expected) for o in evidence.outcomes
    )


def share_of(case: Case) -> tuple[float, float]:
    n, seconds, peak = case.arguments
    rate = 12 * n / seconds
    return round(rate / 1e9, 1), round(rate / peak, 1)


# -- the bottleneck -------------------------------------------------------------------------------------

SICK = ("launch too small", "divergence", "uncoalesced access", "bank conflicts")
"""What the second exercise asks for, besides "none"."""

_PATIENTS = r"""
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
_WARD = (
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
    from helpers.results.profile import profile
    from helpers.vgpu.standins import cupy as cp

    cases = []
    for name, kernel, blocks, n, ails in _WARD:
        dtype = np.float64 if kernel == "pairs" else np.float32
        x, out = cp.full(4 * n, 2, dtype), cp.zeros(4 * n, dtype)
        counted = profile(cp.RawKernel(_PATIENTS, kernel), blocks, 256, (x, out, np.int32(n)), device=GPU)
        cases.append(Case(name, (counted,), expected=ails))
    return tuple(cases)


# -- the sick kernel ------------------------------------------------------------------------------------


def settled_of(x: np.ndarray, rows: slice = slice(None, None, 2)) -> np.ndarray:
    """`x` with the continued fraction of `ROUNDS` steps in the chosen rows."""
    out = x.copy()
    value, r = x[rows], x[rows].copy()
    for _ in range(ROUNDS):
        r = value / (value + r)
    out[rows] = r
    return out


def one_round(case: Case) -> np.ndarray:
    out = case.arguments[0].copy()
    out[::2] = 0.5
    return out


def odd_rows_left_out(evidence) -> bool:
    wrong = [o for o in evidence.outcomes if not o.ok]
    return bool(wrong) and all(
        o.only_untouched and o.untouched[1::2].all() and not o.untouched[::2].any() for o in wrong
    )


def settle_case(rows: int) -> Case:
    x = np.random.default_rng(rows).uniform(0.5, 4, (rows, COLUMNS)).astype(np.float32)
    grid = cover(rows * COLUMNS, BLOCK)
    return Case(f"{rows:,} rows", (x, Out(settled_of(x))), (grid,), (BLOCK,))


LARGE = 1024
