"""A sum over nine neighbours: a block loads its elements once, with a halo on either side."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises.ch05.budgets import SHARED_LOADS

REACH, BLOCK = 4, 128
INSIDE = "0 <= i && i < n ? x[i] : 0"


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    padded = np.pad(x, REACH)
    wanted = sum(padded[k : k + n] for k in range(2 * REACH + 1)).astype(np.float32)
    return Case(plural(n, "element"), (x, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch05.stencil",
    title="a sum over nine neighbours, in CUDA C",
    language="cuda",
    name="stencil",
    cases=lambda: [_case(n) for n in (1, 3, 5, 127, 128, 129, 500, 1021)],
    measured=lambda: _case(4096),
    sanitize=True,
    budgets=(
        Budget(
            "sectors loaded for 4,096 floats",
            lambda profile: profile["global_read_sectors"],
            800,
            "A block needs its 128 elements and 4 more on either side: about 20 sectors, if it loads each once.",
        ),
        SHARED_LOADS,
    ),
    hints=(
        "How many elements does a block of 128 threads read in all? That is the size of the tile.",
        "136 elements and 128 threads: for (int j = threadIdx.x; j < 136; j += 128). tile[j] holds "
        "x[first - 4 + j], or 0 outside.",
        "After the barrier, thread t sums tile[t] to tile[t + 8], and stores it if its element exists.",
    ),
    solution="""
extern "C" __global__
void stencil(const float* x, float* out, int n) {
    __shared__ float tile[128 + 8];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = t; j < 136; j += 128) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += tile[t + k];
    if (first + t < n) out[first + t] = sum;
}
""",
    why="136 loads take the place of 1,152. Threads beyond the end still help to fill the tile and still come to "
    "the barrier; only their store is guarded. Lanes read neighbouring words of the tile, so there is no bank "
    "conflict at any k.",
    stretch="make the reach an argument and the tile dynamic: extern __shared__ float tile[].",
    equivalent=(
        (("128 + 8", "129 + 8"), "a place more than is used"),
        (("128 + 8", "128 + 9"), "a place more than is used"),
        (("j += 128", "j += 127"), "some places are filled twice, with the same"),
    ),
    mistakes=(
        Mistake(
            "the tile has no halo",
            "The first and last threads of a block need neighbours that belong to other blocks. Load 4 elements more "
            "on either side.",
            ((INSIDE, "first <= i && i < min(n, first + 128) ? x[i] : 0"),),
        ),
        Mistake(
            "the halo is missing on one side",
            "One end of each block is right, the other takes its neighbours for 0: load 4 elements beyond both.",
            (("i < n ?", "i < min(n, first + 128) ?"), ("0 <= i", "first <= i")),
        ),
        Mistake(
            "the edges are repeated",
            "Before the first element and behind the last you took that element again. What lies outside counts as 0.",
            ((INSIDE, "x[min(max(i, 0), n - 1)]"),),
        ),
        Mistake(
            "a window of the wrong length or off centre",
            "Each sum takes nine elements, four on either side of its own. With tile[0] four places before the block's "
            "first element, thread t sums tile[t] to tile[t + 8], both included.",
            (
                ("k < 9", "k < 8"), ("k = 0; k < 9", "k = 1; k < 9"), ("k = 0; k < 9", "k = 1; k < 8"),
                ("first - 4 + j", "first + j"), ("first - 4 + j", "first - 8 + j"), ("k = 0; k < 9", "k = 2; k < 7"),
            ),
        ),
        Mistake(
            "no guard",
            "The halo of the first block begins before the array, that of the last ends behind it. Those elements "
            "count as 0 and must not be loaded: 0 <= i && i < n. The store needs a guard as well.",
            ((INSIDE, "x[i]"), ("0 <= i && ", ""), (" && i < n", ""), ("if (first + t < n) ", "")),
        ),
        Mistake(
            "a part of the tile is never filled",
            "Threads read elements of the tile that no thread has written. A block fills 136, and what lies outside "
            "the data counts as 0: write that 0 into the tile.",
            ((f"tile[j] = {INSIDE};", "if (0 <= i && i < n) tile[j] = x[i];"), ("j < 136", "j < 128")),
        ),
        Mistake(
            "its own element is left out",
            "The nine are the element itself and four on either side.",
            (("sum += tile", "if (k != 4) sum += tile"),),
        ),
        Mistake(
            "every neighbour comes from global memory",
            "Right, but each element is loaded nine times. Load it once for the block, into shared memory.",
            ("int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;\n"
             "for (int j = max(0, i - 4); j <= min(n - 1, i + 4); ++j) s += x[j]; if (i < n) out[i] = s;",),
        ),
        Mistake(
            "more is loaded than the tile",
            "Right, but a block asks for more than the 20 sectors of its 136 elements: some are loaded again, or lanes "
            "load one at a time, and fetch the same sector eight times. Thread t loads elements t and t + 128.",
            (("j += 128", "j += 64"), ("int j = t; j < 136; j += 128", "int j = 0; j < 136 && t == 0; ++j")),
        ),
        Mistake(
            "the tile holds doubles",
            "Elements of 8 bytes take two banks each, so every request takes two wavefronts. The data is float32: "
            "declare the tile so.",
            (("float tile", "double tile"),),
        ),
    ),
)  # fmt: skip
