"""Sums of rows of different lengths: which rows should share a warp?"""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.exercises.ch08.budgets import at_most_instructions

BLOCK = 128
A_WARP_A_ROW = """int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    for (int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32; r < rows; r += warps) {
        float sum = 0;
        for (int k = first[r] + lane; k < first[r + 1]; k += 32) sum += x[k];
        for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0) out[r] = sum;
    }"""
ONE_THREAD = """if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int row = 0; row < rows; ++row) {
            float sum = 0;
            for (int k = first[row]; k < first[row + 1]; ++k) sum += x[k];
            out[row] = sum;
        }"""


def _case(rows: int) -> Case:
    # Some rows are empty, most are short, a few are long: what a sparse matrix looks like.
    lengths = np.minimum(np.random.default_rng(rows).geometric(0.08, rows) - 1, 120)
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    x = numbers(max(1, int(first[-1])), seed=rows)
    sums = np.array([x[first[row] : first[row + 1]].sum(dtype=np.float64) for row in range(rows)], np.float32)
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    arguments = (first, x, order, Out(sums), np.int32(rows))
    return Case(plural(rows, "row"), arguments, (cover(rows, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch08.rows",
    title="rows of different lengths, in CUDA C",
    language="cuda",
    name="row_sums",
    cases=lambda: [_case(rows) for rows in (1, 2, 31, 33, 127, 400)],
    measured=lambda: _case(1024),
    budgets=(
        at_most_instructions(
            "1,024 rows", 4_000, "A warp is done when its longest row is: give it rows of one length."
        ),
    ),
    thread_of=thread_1d,
    sanitize=True,
    hints=(
        "Which rows share a warp decides how long it runs. Nothing says that thread t must have row t.",
        "order[0] is the shortest row, order[rows - 1] the longest. Let thread t look after row order[t].",
        "int row = order[t]; for (int k = first[row]; k < first[row + 1]; ++k) sum += x[k]; out[row] = sum;",
    ),
    solution="""
extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    int row = order[t];
    float sum = 0.0f;
    for (int k = first[row]; k < first[row + 1]; ++k) sum += x[k];
    out[row] = sum;
}
""",
    why="With the rows sorted by length, the 32 loops of a warp end within a few rounds of one another, so its "
    "instructions are those of an average row and not of the longest of 32. The order is worth computing when it is "
    "used more than once, as for a matrix that many vectors are multiplied with.",
    stretch="give each row to a whole warp, with lanes 32 apart and a sum by shuffles. When is that better? Count the "
    "sectors too.",
    mistakes=(
        Mistake(
            "beyond the end of a row",
            "x is indexed by k, and row r has the elements from first[r] up to first[r + 1], without that one: "
            "k < first[r + 1].",
            (("k < first", "k <= first"), ("first[row + 1]; ++k", "first[row + 1] + 1; ++k")),
        ),
        Mistake(
            "out is added to before it is written",
            "What out holds at first is no number. Add up in a variable that starts at 0, and store it once.",
            ((("sum += x", "out[row] += x"), ("\n    out[row] = sum;", "")), ("out[row] =", "out[row] +=")),
        ),
        Mistake(
            "an empty row has a sum as well",
            "A row without elements never enters the loop, and its sum is 0: store it behind the loop.",
            ((("sum += x[k];", "{ sum += x[k]; out[row] = sum; }"), ("\n    out[row] = sum;", "")),),
        ),
        Mistake(
            "the last element of a row is left out",
            "first[r + 1] is where the next row begins, so the elements go up to it: k < first[r + 1].",
            (("first[row + 1]; ++k", "first[row + 1] - 1; ++k"),),
        ),
        Mistake(
            "the sums stay in sorted order",
            "The thread works on row order[t], and its sum belongs to that row: out[order[t]].",
            (("out[row]", "out[t]"),),
        ),
        Mistake(
            "the row is not the one that order names",
            "The sum of row t is written to another row. Read order[t] once, call it row, and use it for both.",
            ((("first[row]", "first[t]"), ("first[row + 1]", "first[t + 1]")),),
        ),
        Mistake(
            "the sums are whole numbers",
            "The elements have fractions, and the variable that adds them up cannot hold any: float sum.",
            (("float sum = 0.0f", "int sum = 0"),),
        ),
        Mistake(
            "many times the work",
            "The result is right. A row has some twelve elements: a whole warp has little to do with it, and one "
            "thread for all rows leaves the others idle. One thread a row is enough, if the 32 rows of a warp are of "
            "nearly the same length.",
            (A_WARP_A_ROW, ONE_THREAD),
        ),
        Mistake(
            "rows as they come",
            "The result is right; every warp runs as long as the longest of its 32 rows. `order` lists the rows from "
            "the shortest to the longest: neighbours in it have nearly the same length.",
            (("order[t]", "t"),),
        ),
    ),
)
