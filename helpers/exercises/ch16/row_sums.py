"""Sums of rows from two buffers: while a tile is added up, the copy of the next one is under way."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers, plural
from helpers.checking.measures import load_requests_for_needed

TILE = 128


def _case(rows: int, tiles: int) -> Case:
    x = numbers((rows, TILE * tiles), seed=rows + tiles)
    name = f"{plural(rows, 'row')} of {plural(tiles, 'tile')}"
    return Case(name, (x, Out(x.sum(1)), np.int32(tiles)), (rows,), (32,))


def waits_alone(chain) -> int:
    """How often a warp waits for global memory while nothing else that it asked for is under way."""
    found, under_way = 0, set()
    for number, link in enumerate(chain.links):
        waited = under_way & set(link.needs)
        under_way -= waited
        found += bool(waited) and not under_way
        if link.space == "global" and link.op == "load":
            under_way.add(number)
    return found


EXERCISE = Exercise(
    key="ch16.row_sums",
    title="row sums from two buffers, in CUDA C",
    language="cuda",
    name="row_sums",
    cases=lambda: [_case(*each) for each in ((1, 1), (1, 2), (3, 3), (5, 8), (2, 5))],
    measured=lambda: _case(4, 16),
    tolerance=1e-4,
    sanitize=True,
    budgets=(
        Budget(
            "waits of a warp with no other copy under way",
            waits_alone,
            1,
            "Only at the last tile is there nothing left to copy. At every other wait the next tile's copy is under "
            "way.",
            of="warp",
        ),
        Budget(
            "load requests for each 128 bytes",
            load_requests_for_needed,
            0.25,
            "A thread copies 16 bytes at a time, so that a warp's request brings 512.",
        ),
        Budget(
            "instructions for 4 rows of 2,048 elements",
            lambda profile: profile["instructions"],
            3_000,
            "A copy, a commit, a wait and four additions a tile, and what the loop and the indices need.",
            "instructions",
        ),
    ),
    hints=(
        "Which copy could be under way while tile i is added up? It needs a place in shared memory that nobody reads.",
        "Copy and commit tile 0 before the loop. In round i copy and commit tile i + 1 into the other buffer first, "
        "then wait for all but the latest group.",
        "if (i + 1 < tiles) __pipeline_memcpy_async(&s[(i + 1) % 2][t], &row[32 * (i + 1) + t], 16); then "
        "__pipeline_commit(); __pipeline_wait_prior(1); and add s[i % 2][t].",
    ),
    solution="""
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void row_sums(const float4* x, float* out, int tiles) {
    __shared__ float4 s[2][32];
    int t = threadIdx.x;
    const float4* row = x + blockIdx.x * tiles * 32;
    float sum = 0;
    __pipeline_memcpy_async(&s[0][t], &row[t], 16);
    __pipeline_commit();
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles)
            __pipeline_memcpy_async(&s[(i + 1) % 2][t], &row[32 * (i + 1) + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        float4 four = s[i % 2][t];
        sum += four.x + four.y + four.z + four.w;
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (t == 0)
        out[blockIdx.x] = sum;
}
""",
    why="The empty group that the last round commits keeps the count: the latest group is always that of the next "
    "tile. No barrier is needed, because every thread reads only what it copied itself.",
    stretch="make it four buffers. What has to change besides the number, and what does a block's shared memory come "
    "to?",
    equivalent=(
        (("s[2][32]", "s[3][32]"), "more room than is used"), (("s[2][32]", "s[2][33]"), "more room than is used"),
    ),
    mistakes=(
        Mistake(
            "everything is waited for",
            "Right, but __pipeline_wait_prior(0) waits for the next tile as well, so that nothing is under way while "
            "this one is added up. Leave the latest group: __pipeline_wait_prior(1).",
            (("wait_prior(1)", "wait_prior(0)"),),
        ),
        Mistake(
            "the wrong group",
            "Two groups may stay under way, and one of them is this tile's: it may not have landed.",
            (("wait_prior(1)", "wait_prior(2)"),),
        ),
        Mistake(
            "the last tile is not waited for",
            "In the last round there is no next tile, so that the latest group is this tile's own. Commit a group in "
            "every round, if need be an empty one.",
            (("        __pipeline_commit();\n        __pipeline_wait",
              "        if (i + 1 < tiles) __pipeline_commit();\n        __pipeline_wait"),),
        ),
        Mistake(
            "one buffer for both",
            "The next tile is copied over the one that is being added up.",
            (("s[(i + 1) % 2][t]", "s[0][t]"), ("s[(i + 1) % 2][t]", "s[i % 2][t]")),
        ),
        Mistake(
            "a tile too many",
            "After the last tile there is nothing to copy in this row: guard the copy with i + 1 < tiles.",
            (("        if (i + 1 < tiles)\n", ""),),
        ),
        Mistake(
            "the first tile never comes",
            "In round 0 tile 1 is copied. Tile 0 has to be copied before the loop.",
            (("    __pipeline_memcpy_async(&s[0][t], &row[t], 16);\n    __pipe", "    __pipe"),),
        ),
    ),
)  # fmt: skip
