"""An exclusive scan of a block of any size: the sum of the elements before each."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, plural
from helpers.exercises.ch07 import budgets

LEFT = "t >= d ? s[t - d] : 0"
LAST = "t > 0 ? s[t - 1] : 0"
LOOP = "    for (int d = 1; d < n; d *= 2) {\n        int left = t >= d ? s[t - d] : 0;\n        __syncthreads();\n" \
       "        s[t] += left;\n        __syncthreads();\n    }\n"  # fmt: skip
BLELLOCH = """
    for (int d = n / 2; d > 0; d /= 2) {
        int k = (t + 1) * (n / d) - 1;
        if (k < n) s[k] += s[k - n / (2 * d)];
        __syncthreads();
    }
    if (t == 0) s[n - 1] = 0;
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int k = (t + 1) * (n / d) - 1, j = k - n / (2 * d);
        if (k < n && t < d) { int left = s[j]; s[j] = s[k]; s[k] += left; }
        __syncthreads();
    }
"""


def _case(n: int) -> Case:
    x = 2 * np.random.default_rng(n).integers(-9, 10, n, np.int32)  # even: no sum looks like the bytes 0xFF
    wanted = np.concatenate([[0], np.cumsum(x)[:-1]]).astype(np.int32)
    return Case(plural(n, "element"), (x, Out(wanted)), (1,), (n,))


EXERCISE = Exercise(
    key="ch07.exclusive",
    title="an exclusive scan of a block of any size, in CUDA C",
    language="cuda",
    name="exclusive",
    cases=lambda: [_case(n) for n in (1, 2, 31, 33, 97, 256, 1021)],
    measured=lambda: _case(1024),
    budgets=budgets.EXCLUSIVE,
    sanitize=True,
    also_wrong=("barrier_ended",),
    hints=(
        "Make the inclusive scan by steps that double the distance, then hand each sum one place on.",
        "In a step: read s[t - d] into a register; barrier; add it to s[t]; barrier. All threads meet both.",
        "for (int d = 1; d < n; d *= 2) { int left = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += left; "
        "__syncthreads(); } then out[t] = t > 0 ? s[t - 1] : 0;",
    ),
    solution="""
extern "C" __global__
void exclusive(const int* x, int* out) {
    __shared__ int s[1024];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    out[t] = t > 0 ? s[t - 1] : 0;
}
""",
    why="Hillis and Steele's scan needs no power of two: a thread whose left neighbour would lie outside adds 0. "
    "Two barriers keep reads and writes of a step apart, and both stand outside every `if`, so that a block of "
    "any size gets through. The shift at the end makes it exclusive.",
    stretch="compact a block: keep the positive elements of x, in order, without holes, with one scan of flags.",
    equivalent=(
        (("s[1024]", "s[1025]"), "room that is not used"),
        (("d < n", "d <= n"), "a step more, in which nobody has a neighbour"),
    ),
    mistakes=(
        Mistake(
            "inclusive, not exclusive",
            "out[i] is the sum of the elements *before* i, and out[0] is 0: shift by one.",
            ((LAST, "s[t]"),),
        ),
        Mistake(
            "a neighbour outside the block",
            "Thread t has no neighbour t - d as long as t < d, and thread 0 none at all: take 0 there, as in "
            "`t >= d ? s[t - d] : 0`.",
            ((LAST, "s[t - 1]"), (LEFT, "s[t - d]")),
        ),
        Mistake(
            "nobody writes out[0]",
            "Before the first element there is nothing, and the sum of nothing is 0: somebody has to write it.",
            (("out[t] = t > 0 ? s[t - 1] : 0", "if (t + 1 < n) out[t + 1] = s[t]"),),
        ),
        Mistake(
            "too few steps",
            "Some elements have the sum of a few before them, not of all. The distance doubles until it covers the "
            "block, for (int d = 1; d < n; d *= 2), and not only a warp.",
            ((LOOP, ""), ("d < n", "d < 32"), ("d < n", "d <= n / 2"), ("d < n", "d < n / 2"), ("d *= 2", "d *= 4")),
        ),
        Mistake(
            "one thread a step stands back",
            "Thread d has a neighbour at distance d: s[0]. So t >= d, not t > d.",
            (("t >= d", "t > d"),),
        ),
        Mistake(
            "from the end",
            "These are the sums of what comes behind each element. Add s[t - d], and hand on s[t - 1].",
            (((LEFT, "t + d < n ? s[t + d] : 0"), (LAST, "t + 1 < n ? s[t + 1] : 0")),),
        ),
        Mistake(
            "each warp starts from zero",
            "Shuffles stay within a warp. The sums of all warps before it still have to be added.",
            ((("t >= d", "t % 32 >= d"), ("t > 0", "t % 32 > 0"), ("d < n", "d < 32")),),
        ),
        Mistake(
            "right for powers of two only",
            "n / 2, n / 4, … skips elements when n is odd somewhere on the way. Let the distance grow from 1 while it "
            "is less than n.",
            (((LOOP, BLELLOCH), (LAST, "s[t]")),),
        ),
        Mistake(
            "every thread adds all before it",
            "Right, with n² / 2 additions. Let the threads share their sums: log₂ n steps.",
            ("int sum = 0; for (int i = 0; i < threadIdx.x; ++i) sum += x[i]; out[threadIdx.x] = sum;",
             ((LOOP, "    int sum = 0; for (int k = 0; k < t; ++k) sum += s[k];\n"), (LAST, "sum"))),
        ),
        Mistake(
            "one thread adds for all",
            "Right, one element after another, while all other warps wait. Let all threads add, in log₂ n steps.",
            ((LOOP, "    if (t == 0) for (int k = 1; k < n; ++k) s[k] += s[k - 1];\n    __syncthreads();\n"),
             "if (threadIdx.x == 0) for (int sum = 0, k = 0; k < blockDim.x; ++k) { out[k] = sum; sum += x[k]; }"),
        ),
        Mistake(
            "every step goes through global memory",
            "Right, in few steps, and each of them loads from global memory. Load once, and keep the sums in shared "
            "memory or registers.",
            ((("__shared__ int s[1024]", "int* s = out"), ("s[t] = x[t]", "s[t] = threadIdx.x > 0 ? x[t - 1] : 0"),
              ("    out[t] = t > 0 ? s[t - 1] : 0;\n", "")),),
        ),
    ),
)  # fmt: skip
