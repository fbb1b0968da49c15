"""Where the greatest of each row stands: the tree of version 4, on pairs of a value and a place."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, plural
from helpers.exercises.ch07 import budgets

THREADS = 256
LOAD = "t < n ? x[blockIdx.x * n + t] : -3e38f"
BETTER = "value[t + d] > value[t]"
SAME = "value[t + d] == value[t]"


def _case(rows: int, n: int, *, below_zero: bool = False) -> Case:
    x = (
        np.random.default_rng(n).integers(1, 3 + n // 2, (rows, n)).astype(np.float32)
    )  # so few values that many are equal
    x = -x - 8 if below_zero else x
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}" + (", all below zero" if below_zero else "")
    return Case(name, (x, Out(x.argmax(axis=1).astype(np.int32)), np.int32(n)), (rows,), (THREADS,))


EXERCISE = Exercise(
    key="ch07.first_max",
    title="where the greatest of each row stands, in CUDA C",
    language="cuda",
    name="first_max",
    cases=lambda: [
        _case(1, 1, below_zero=True), _case(3, 31), _case(5, 97, below_zero=True), _case(4, 128), _case(7, 251),
        _case(6, 256),
    ],
    measured=lambda: _case(4, 256),
    budgets=budgets.FIRST_MAX,
    sanitize=True,
    hints=(
        "A node of this tree holds a value and its place. Which of two nodes goes up, and what do you copy?",
        "Thread t < d takes over node t + d if its value is greater. If both values are the same, the smaller place "
        "wins.",
        "if (value[t + d] > value[t] || (value[t + d] == value[t] && place[t + d] < place[t])) { value[t] = "
        "value[t + d]; place[t] = place[t + d]; }, with __syncthreads() ahead of each step.",
    ),
    solution="""
extern "C" __global__
void first_max(const float* x, int* out, int n) {
    __shared__ float value[256];
    __shared__ int place[256];
    int t = threadIdx.x;
    value[t] = t < n ? x[blockIdx.x * n + t] : -3e38f;
    place[t] = t;
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) {
            bool greater = value[t + d] > value[t];
            bool earlier = value[t + d] == value[t] && place[t + d] < place[t];
            if (greater || earlier) {
                value[t] = value[t + d];
                place[t] = place[t + d];
            }
        }
    }
    if (t == 0) out[blockIdx.x] = place[0];
}
""",
    why="A tree may combine anything that can be regrouped. 'The greater value, and of equals the earlier place' is "
    "such an operation on pairs, so the tree stays and only the line that combines changes. Without the places a "
    "tie would be decided by the shape of the tree. -3e38f is close to the least float, and loses "
    "against every element here.",
    stretch="give the second greatest as well. What does a node have to hold?",
    equivalent=(
        (("value[256]", "value[257]"), "room that is not used"),
        (("place[256]", "place[257]"), "room that is not used"),
        (("place[t + d] < place[t]", "place[t + d] <= place[t]"), "no two nodes have the same place"),
    ),
    mistakes=(
        Mistake(
            "of equals, not the first",
            "Two elements are the greatest, and the first of them is asked for. In this tree the left node may hold "
            "the later place, so compare the places where the values are equal.",
            ((f"{SAME} && place[t + d] < place[t]", "false"), ("place[t + d] < place[t]", "place[t + d] > place[t]"),
             (BETTER, "value[t + d] >= value[t]")),
        ),
        Mistake(
            "no place goes up",
            "The answer is 0 for every row, so no place ever goes up the tree. A node is a value and its place: where "
            "thread t takes over the value of node t + d, it takes over place[t + d] as well.",
            (("                place[t] = place[t + d];\n", ""), ("greater || earlier", "false")),
        ),
        Mistake(
            "the place of the node",
            "Node t + d may hold an element that came from further right. Its place is place[t + d], not t + d.",
            (("place[t] = place[t + d]", "place[t] = t + d"),),
        ),
        Mistake(
            "the value stays behind",
            "The place went up without its value, so that the next step compares an old value.",
            (("                value[t] = value[t + d];\n", ""),),
        ),
        Mistake(
            "the smallest",
            "The comparison is the wrong way round: the greater value goes up.",
            (((BETTER, "value[t + d] < value[t]"), ("-3e38f", "3e38f")), (BETTER, "value[t + d] < value[t]")),
        ),
        Mistake(
            "threads without an element take part",
            "Threads from n on need a value that loses against every element, also against those below zero.",
            (("-3e38f", "0"), ("-3e38f", "3e38f"), ("-3e38f", "-1")),
        ),
        Mistake(
            "a value in place of a place",
            "out takes the index of the greatest, not the greatest itself.",
            (("= place[0]", "= value[0]"),),
        ),
        Mistake(
            "a place in the whole array",
            "The index counts from the beginning of the row, as torch.argmax(x, dim=1) does.",
            (("place[t] = t;", "place[t] = blockIdx.x * n + t;"),),
        ),
        Mistake(
            "always the first row",
            "Row blockIdx.x begins at x[blockIdx.x * n].",
            (("x[blockIdx.x * n + t]", "x[t]"), ("x[blockIdx.x * n + t]", "x[blockIdx.x + t]")),
        ),
        Mistake(
            "a step is missing",
            "Some threads never get through to thread 0: the distances are half of the block, a quarter, …, 2, 1.",
            (("blockDim.x / 2; d > 0", "blockDim.x / 4; d > 0"), ("d > 0", "d > 1"),
             ("d > 0; d /= 2", "d > 0; d /= 4")),
        ),
        Mistake(
            "one thread does it all",
            "Right, and 255 threads look on. Let the tree compare 128 pairs in its first step.",
            (
                "    if (threadIdx.x == 0) {\n        int best = 0;\n        for (int i = 1; i < n; ++i)\n"
                "            if (x[blockIdx.x * n + i] > x[blockIdx.x * n + best]) best = i;\n"
                "        out[blockIdx.x] = best;\n    }",
            ),
        ),
    ),
)  # fmt: skip
