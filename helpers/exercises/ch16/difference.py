"""The difference of neighbours from a tile that is copied asynchronously: which wait and which barrier are missing?"""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK = 128
COMMIT, WAIT, BARRIER = (
    "    __pipeline_commit();\n", "    __pipeline_wait_prior(0);\n", "    __syncthreads();\n",
)  # fmt: skip


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    before = np.concatenate([[0], x[:-1]]).astype(np.float32)
    before[::BLOCK] = 0
    return Case(plural(n, "element"), (x, Out(x - before), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch16.difference",
    title="mend the missing waits, in CUDA C",
    language="cuda",
    name="difference",
    cases=lambda: [_case(n) for n in (1, 31, 97, 128, 131, 1000)],
    sanitize=True,
    hints=(
        "A thread reads two elements. Who copied the first one, and who the second?",
        "A thread's own copy has landed after its commit and its wait. Its neighbour's copy has landed for certain "
        "when the neighbour has waited too, so all threads have to meet after their waits.",
        "After the copy: __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); each outside any `if`.",
    ),
    solution="""
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void difference(const float* x, float* out, int n) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (i < n)
        __pipeline_memcpy_async(&s[t], &x[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (i < n)
        out[i] = t > 0 ? s[t] - s[t - 1] : s[t];
}
""",
    why="The wait is a promise to one thread about that thread's own copies. The barrier hands the promise on: whoever "
    "leaves it knows that every thread has waited before. In the other order neither would help.",
    stretch="copy 16 bytes a thread. Which threads still need the barrier?",
    equivalent=((("s[128]", "s[129]"), "an element more than is used"),),
    mistakes=(
        Mistake(
            "the copies are not waited for",
            "Nothing says that the copies have landed when they are read: here they never have. A thread closes a "
            "group with __pipeline_commit(), and __pipeline_wait_prior(0) waits until no closed group is under "
            "way. A copy in no group is not waited for, and with (1) the latest group may go on.",
            (
                (WAIT, ""), ((COMMIT, ""), (WAIT, "")), ((COMMIT, ""), (WAIT, ""), (BARRIER, "")), (COMMIT, ""),
                ("wait_prior(0)", "wait_prior(1)"),
            ),
        ),
        Mistake(
            "no barrier after the wait",
            "A wait is about the thread's own copies. The left neighbour's copy may still be under way: all threads "
            "have to meet at __syncthreads() after their waits. At a barrier before the wait nobody has waited yet.",
            (
                (BARRIER, ""), ("__syncthreads()", "__syncwarp()"),
                (COMMIT + WAIT + BARRIER, COMMIT + BARRIER + WAIT), (COMMIT + WAIT + BARRIER, BARRIER + COMMIT + WAIT),
            ),
        ),
        Mistake(
            "no guard at the copy",
            "Threads from n on have no element: the copy needs the same guard as the store.",
            (("    if (i < n)\n        __pipe", "        __pipe"),),
        ),
        Mistake(
            "the first of a block has no left neighbour",
            "s[t - 1] of thread 0 lies before the array.",
            (("t > 0 ? s[t] - s[t - 1] : s[t]", "s[t] - s[t - 1]"),),
        ),
    ),
)  # fmt: skip
