"""Counters and loop variables have their names in a recording, or none: never a wrong value."""

import ast

import numpy as np
import pytest

from vgpu import cp, cuda, record
from vgpu.tools.steps.loop_names import header, loops, steps

START = np.arange(32, dtype=np.float32) * 7 % 32 + 1
ROUNDS = np.ceil(np.log2(START)).astype(int)

SETTLE = r"""
extern "C" __global__ void settle(const float* x, int* rounds) {
    int t = threadIdx.x;
    float v = x[t];
    int count = 0;
    while (v > 1.0f) {
        v = v * 0.5f;
        STEP;
    }
    rounds[t] = count;
}
"""
SUMS = r"""
extern "C" __global__ void sums(const float* x, float* out, int n) {
    float sum = 0;
    #pragma unroll UNROLL
    for (int k = 0; k < n; ++k)
        sum += x[k] * x[threadIdx.x];
    out[threadIdx.x] = sum;
}
"""
STRIDE = r"""
extern "C" __global__ void twice(float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] *= 2;
}
"""


@cuda.jit
def settle(x, rounds):
    t = cuda.grid(1)
    v = x[t]
    count = 0
    while v > 1:
        v = v * np.float32(0.5)
        count += 1
    rounds[t] = count


def history(found, name):
    """What a variable held, each value once in a row, a lane at a time."""
    seen = [[] for _ in range(32)]
    for step in found.steps:
        for written in step.written:
            for lane, value in enumerate(written.values if written.name == name else ()):
                if value is not None and seen[lane][-1:] != [value]:
                    seen[lane].append(value)
    return seen


@pytest.mark.parametrize("step", ["count = count + 1", "count += 1", "count++", "++count"])
def test_a_counter_of_a_while_loop(step):
    kernel = cp.RawKernel(SETTLE.replace("STEP", step), "settle")
    found = record(kernel, 1, 32, (cp.asarray(START), cp.zeros(32, "int32")))
    assert history(found, "count") == [list(range(n + 1)) for n in ROUNDS]
    assert found.values(found.steps[-1].number)["count"].values == tuple(ROUNDS)


def test_a_counter_in_numba():
    found = record(settle, 1, 32, (cp.asarray(START), cp.zeros(32, "int32")))
    assert history(found, "count") == [list(range(n + 1)) if n else [] for n in ROUNDS]
    assert history(found, "v")[1] == [8.0, 4.0, 2.0, 1.0]


def test_the_variable_of_a_for_loop():
    kernel = cp.RawKernel(SUMS.replace("UNROLL", "1"), "sums")
    found = record(kernel, 1, 32, (cp.asarray(START), cp.zeros(32, "float32"), np.int32(5)))
    assert history(found, "k") == [[0, 1, 2, 3, 4, 5]] * 32


@pytest.mark.parametrize("times", [2, 4])
def test_an_unrolled_loop_has_no_variable_that_stands_still(times):
    kernel = cp.RawKernel(SUMS.replace("UNROLL", str(times)), "sums")
    found = record(kernel, 1, 32, (cp.asarray(START), cp.zeros(32, "float32"), np.int32(9)))
    for lane in history(found, "k"):
        assert lane in ([], list(range(10))), "the name is right at every step, or on none"


def test_the_variable_of_a_grid_stride_loop():
    found = record(cp.RawKernel(STRIDE, "twice"), 2, 32, (cp.ones(150, "float32"), np.int32(150)), 1)
    wanted = [[*range(32 + lane, 150, 64)] for lane in range(32)]
    assert [lane[: len(want)] for lane, want in zip(history(found, "i"), wanted, strict=True)] == wanted


@pytest.mark.parametrize(
    ("line", "language", "wanted"),
    [
        ("for (int k = 0; k < n; ++k) {", "cuda", ("k", "0", "k + 1")),
        ("for (int k = 8; k > 0; k -= 2) sum += k;", "cuda", ("k", "8", "k - 2")),
        ("for (unsigned i = threadIdx.x; i < n; i += blockDim.x)", "cuda", ("i", "threadIdx.x", "i + blockDim.x")),
        ("for (;;) {", "cuda", None),
        ("for (int k = 0; k < n; k = next(k)) {", "cuda", None),
        ("for (int k = 0; k < n; j++) {", "cuda", None),
        ("for k in range(n):", "numba", ("k", "0", "k + 1")),
        ("for k in range(t, n, 32):", "numba", ("k", "t", "k + 32")),
        ("for x in values:", "numba", None),
        ("k = 0", "numba", None),
    ],
)
def test_headers_of_loops(line, language, wanted):
    found = header(line, language)
    assert (found and (found[0], ast.unparse(found[1]), ast.unparse(found[2]).replace("(", "").replace(")", ""))) == (
        wanted
    )


def test_steps():
    assert ast.unparse(steps("count -= 3;", "cuda").expression).replace("(", "").replace(")", "") == "count - 3"
    assert steps("count = other + 1;", "cuda") is None and steps("count = 1", "numba") is None


def test_a_variable_that_something_else_changes_is_no_loops():
    listing = {1: "for (int k = 0; k < n; ++k) {", 2: "k = other;", 3: "int m = 0;", 4: "m += 2;"}
    assert [(loop.name, loop.line) for loop in loops(listing, "cuda")] == [("m", 4)]
