"""A vector that is longer than the launch: each thread comes round again, and neighbours stay neighbours."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, numbers, plural
from helpers.exercises.ch04.budgets import LOADS, STORES, sectors_in_all

START = "blockIdx.x * blockDim.x + threadIdx.x"


def _case(n: int, blocks: int, threads: int) -> Case:
    x = numbers(n, seed=n)
    name = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads}"
    return Case(name, (x, Out(np.float32(1.5) * x), np.int32(n)), (blocks,), (threads,))


CASES = ((1, 1, 32), (31, 1, 32), (64, 2, 32), (97, 1, 32), (500, 3, 64), (1000, 2, 96), (77, 8, 32))
EXERCISE = Exercise(
    key="ch04.scale",
    title="a vector longer than the launch, in CUDA C",
    language="cuda",
    name="scale",
    cases=lambda: [_case(*each) for each in CASES],
    measured=lambda: _case(4096, 4, 128),
    budgets=(LOADS, STORES, sectors_in_all(4096)),
    hints=(
        "Which elements should the 32 lanes of a warp take in the same round?",
        "Thread i of the grid begins with element i. How many elements does the whole grid take in one round?",
        "for (int i = …; i < n; i += gridDim.x * blockDim.x)",
    ),
    solution="""
extern "C" __global__
void scale(const float* x, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = 1.5f * x[i];
}
""",
    why="In each round the grid takes a piece of the vector, and neighbouring lanes take neighbouring elements: 4 "
    "sectors a request. A run of elements for each thread is what one would write for a CPU, where it is right; here "
    "it sends 32 lanes to 32 places.",
    stretch="let each thread take a float4 in each round. How many requests are left, and how many sectors?",
    mistakes=(
        Mistake(
            "one round only",
            "Right for as many elements as the launch has threads. Those behind them are left: let each thread come "
            "round again, a whole grid further on.",
            ((f"for (int i = {START}; i < n; i += gridDim.x * blockDim.x)", f"int i = {START}; if (i < n)"),),
        ),
        Mistake(
            "all blocks do the same",
            "The result is right, and made several times: each block goes through elements of the others. Begin at the "
            "thread's number in the whole grid, and go on by all threads of the grid.",
            (
                ("i += gridDim.x * blockDim.x", "i += blockDim.x"),
                ((START, "threadIdx.x"), ("i += gridDim.x * blockDim.x", "i += blockDim.x")),
                (("int i = " + START, "int i = 0"), ("i += gridDim.x * blockDim.x", "++i")),
            ),
        ),
        Mistake(
            "begins in the block, goes on by the grid",
            "All blocks take the elements of block 0, as threadIdx.x begins at 0 in each, and those of the others are "
            "left in every round. Begin at blockIdx.x * blockDim.x + threadIdx.x.",
            ((START, "threadIdx.x"),),
        ),
        Mistake(
            "a run of elements for each thread",
            "The result is right, but in one request the lanes are a run apart. What a thread takes next should be a "
            "whole grid further on, so that in each round neighbours take neighbours.",
            (
                f"int all = gridDim.x * blockDim.x, run = (n + all - 1) / all, first = ({START}) * run;\n"
                "for (int i = first; i < min(n, first + run); ++i) out[i] = 1.5f * x[i];",
            ),
        ),
        Mistake(
            "one thread does it all",
            "One lane asks for the same sector eight times, and all others idle. Give each thread its elements.",
            (f"if ({START} == 0) for (int i = 0; i < n; ++i) out[i] = 1.5f * x[i];",),
        ),
    ),
)  # fmt: skip
