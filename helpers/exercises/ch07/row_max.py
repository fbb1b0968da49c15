"""The greatest of each row: by each thread alone, by shuffles within a warp, through four floats among the warps."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, numbers, plural
from helpers.exercises.ch07 import budgets
from helpers.exercises.ch07.budgets import BLOCK

LOOP = "for (int i = t; i < n; i += blockDim.x)"
SHUFFLES = "for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));"
MINE = f"int t = threadIdx.x; float best = x[blockIdx.x * n];\n{LOOP} best = fmaxf(best, x[blockIdx.x * n + i]);\n"


def _case(rows: int, n: int, *, below_zero: bool = False, all_lanes: bool = False) -> Case:
    x = numbers((rows, n), seed=n)
    x = -np.abs(x) - 1 if below_zero else x
    at = np.random.default_rng(n + 1).integers(0, n, rows)  # where the greatest of each row stands, each another
    at[0], at = n - 1, np.arange(n) if all_lanes else at
    greatest = 9 + np.arange(rows)
    x[np.arange(rows), at] = -1 / greatest if below_zero else greatest
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}" + (", all below zero" if below_zero else "")
    return Case(name, (x, Out(x.max(axis=1)), np.int32(n)), (rows,), (BLOCK,))


EXERCISE = Exercise(
    key="ch07.row_max",
    title="the greatest of each row, in CUDA C",
    language="cuda",
    name="row_max",
    cases=lambda: [
        _case(1, 1, below_zero=True), _case(3, 31), _case(5, 97, below_zero=True), _case(2, 128), _case(4, 1021),
        _case(32, 32, all_lanes=True),
    ],
    measured=lambda: _case(4, 4096),
    budgets=budgets.ROW_MAX,
    sanitize=True,
    hints=(
        "Three parts: each thread's own greatest, that of its warp by shuffles, that of the four warps.",
        "for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d)); leaves it in "
        "lane 0.",
        "Lane 0 of each warp stores to s[t / 32]; __syncthreads(); if (t < 32) the first warp takes s[t % 4] and "
        "shuffles again, by 2 and by 1.",
    ),
    solution="""
extern "C" __global__
void row_max(const float* x, float* out, int n) {
    __shared__ float s[4];
    int t = threadIdx.x;
    const float* row = x + blockIdx.x * n;
    float best = row[0];
    for (int i = t; i < n; i += blockDim.x) best = fmaxf(best, row[i]);
    for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
    if (t % 32 == 0) s[t / 32] = best;
    __syncthreads();
    if (t < 32) {
        best = s[t % 4];
        for (int d = 2; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
        if (t == 0) out[blockIdx.x] = best;
    }
}
""",
    why="Most of the work, a row's elements, is done by each thread alone, without any barrier. Shuffles bring 32 "
    "threads down to one in five steps; one barrier and four floats of shared memory join the warps. "
    "The row's first element is a good start for everybody: a maximum may meet an element twice, so threads "
    "without an element of their own may come along with it.",
    stretch="softmax of a row takes its maximum, then a sum of exponentials. Reuse both parts in one kernel.",
    equivalent=tuple((patch, "the same four numbers are compared") for patch in (
        ("if (t < 32)", ""), ("t < 32", "t <= 32"), ("t < 32", "t < 33"), ("t < 32", "t < 31"), ("t == 0", "t == 1"),
        ("t / 32", "t / 31"), ("s[4]", "s[5]"),
    )),
    mistakes=(
        Mistake(
            "zero is taken for the least",
            "With all elements below zero the greatest is below zero, too. Begin with a float of the row.",
            (("best = row[0]", "best = 0"),),
        ),
        Mistake(
            "one element a thread",
            "128 threads looked at 128 elements and stopped. Let each go on, 128 elements further, up to n.",
            ((LOOP, "int i = t; if (i < n)"),),
        ),
        Mistake(
            "the last element is left out",
            "A row has the elements 0 to n - 1: i < n.",
            (("i < n;", "i < n - 1;"),),
        ),
        Mistake(
            "every block takes the first row",
            "blockIdx.x says which row: it begins at x + blockIdx.x * n.",
            (("x + blockIdx.x * n", "x"),),
        ),
        Mistake(
            "all rows have one result",
            "Every block writes out[0]. A block's row is blockIdx.x, and so is its result: out[blockIdx.x].",
            (("out[blockIdx.x]", "out[t]"),),
        ),
        Mistake(
            "the greatest of one warp",
            "A shuffle stays within its warp: lane 0 knows 32 lanes. The four warps still have to meet, in shared "
            "memory.",
            (f"{MINE}{SHUFFLES}\nif (t == 0) out[blockIdx.x] = best;",),
        ),
        Mistake(
            "several threads write one result",
            "Several threads of a block store to one element of out, and whoever comes last wins. What the warps know "
            "has to meet in shared memory; then one thread writes.",
            (f"{MINE}{SHUFFLES}\nif (t % 32 == 0) out[blockIdx.x] = best;",),
        ),
        Mistake(
            "lane 0 knows only itself",
            "Lane 0 compares its own elements. Before that, the other 31 have to reach it: 16, 8, 4, 2, 1 by "
            "__shfl_down_sync.",
            (("int d = 16", "int d = 0"),),
        ),
        Mistake(
            "a step is missing",
            "Half of the threads never get through to the result. 32 lanes take the steps 16, 8, 4, 2 and 1; then four "
            "warps take 2 and 1.",
            (("d = 16", "d = 8"), ("d = 16; d > 0", "d = 16; d > 1"), ("d = 2; d > 0", "d = 2; d > 1"),
             ("d = 2;", "d = 1;")),
        ),
        Mistake(
            "a request brings one element",
            "Right, with one element a request. Let all threads load, each 128 elements further on.",
            ("if (threadIdx.x == 0) { float best = x[blockIdx.x * n]; for (int i = 0; i < n; ++i)\n"
             "best = fmaxf(best, x[blockIdx.x * n + i]); out[blockIdx.x] = best; }",),
        ),
        Mistake(
            "lanes are not on neighbouring elements",
            "Right, but the lanes of a warp read elements that lie apart, a sector each. Thread t begins with element "
            "t and goes on by 128.",
            ((LOOP, "int m = (n + 127) / 128; for (int i = m * t; i < min(n, m * t + m); ++i)"),),
        ),
        Mistake(
            "a tree in shared memory",
            "Right, with a barrier for every step of the tree. Within a warp shuffles need none: five of them, then "
            "one number a warp goes to shared memory.",
            (f"__shared__ float s[128]; {MINE}s[t] = best;\n"
             "for (int d = 64; d > 0; d /= 2) { __syncthreads(); if (t < d) s[t] = fmaxf(s[t], s[t + d]); }\n"
             "if (t == 0) out[blockIdx.x] = s[0];",),
        ),
    ),
)  # fmt: skip
