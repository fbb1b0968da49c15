"""Exercises on divergence: the same result, from fewer instructions and with no lane idle."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Exercise, Mistake, thread_1d
from helpers.exercises.ch00 import NO_GUARD
from helpers.exercises.ch08_cases import (
    ASTRAY,
    IDLE,
    IDLE_WITH_A_TABLE,
    LOCAL,
    SIZES,
    at_most_instructions,
    back_to_front,
    beyond_values,
    both_loops,
    by_place,
    by_threads,
    empty_rows_left_out,
    last_left_out,
    one_side_left_out,
    rows_case,
    same_formula,
    scale_and_shift_swapped,
    scale_forgotten,
    shift_forgotten,
    sides_case,
    sides_of,
    some_kinds,
    still_sorted,
    table_case,
    whole_numbers,
)

EXERCISES = (
    Exercise(
        key="ch08.sides",
        title="two formulas, whole warps, in Numba",
        language="numba",
        name="sides",
        cases=lambda: [sides_case(n) for n in SIZES],
        measured=lambda: sides_case(2048),
        budgets=(IDLE, at_most_instructions("2,048 elements", 9_500, "The work of one side, once, is enough.")),
        sanitize=True,
        mistakes=(
            ASTRAY,
            NO_GUARD,
            Mistake(
                "every block has the same elements",
                known.first_block_only,
                "The first 128 elements are written and no others. A block begins with element "
                "cuda.blockIdx.x * cuda.blockDim.x.",
            ),
            Mistake(
                "the sides are swapped",
                known.gives(lambda case: sides_of(case.arguments[0], np.arange(case.arguments[0].size) % 2 == 1)),
                "Elements 0, 2, 4, … want the formula with 0.99, and 1, 3, 5, … that with 1.01.",
            ),
            Mistake(
                "one formula for all",
                lambda e: same_formula(True)(e) or same_formula(False)(e),
                "All elements have the same formula now. Even and odd ones have each their own; which threads they "
                "belong to is what you may choose.",
            ),
            Mistake(
                "one side goes through both loops",
                known.gives(both_loops),
                "The even elements have both formulas, one after the other: the second loop belongs into the else.",
            ),
            Mistake(
                "the side follows the thread, not the element",
                by_threads,
                "Whole warps now take one side each, and that is the idea. But which formula an element gets is "
                "decided by the element: give the first half of the block the even elements, the second the odd ones.",
            ),
            Mistake(
                "only one side is written",
                one_side_left_out,
                "The elements of one side have no thread any more, some of them or all. A block of 128 threads still "
                "looks after 128 elements.",
            ),
            Mistake(
                "both sides meet in one warp",
                known.over("idle lanes per instruction"),
                "The result is right, but in every warp some lanes wait while others work. The warp is threads 0 to "
                "31, 32 to 63, and so on: all 32 of them should take the same side.",
            ),
            Mistake(
                "every lane computes both sides",
                known.over("warp instructions for 2,048 elements"),
                "No lane is idle, and half of what they compute is thrown away. Selecting pays for short sides only.",
            ),
        ),
        hints=(
            "You may choose which thread looks after which element. The kernel's i need not be cuda.grid(1).",
            "Threads 0 to 63 of a block are two whole warps. Which 64 of the block's 128 elements should they have?",
            "even = t < half, with half = cuda.blockDim.x // 2. The element is the block's first one, plus 2 * t if "
            "even, else plus 2 * (t - half) + 1.",
        ),
        solution="""
@cuda.jit
def sides(x, out):
    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2
    even = t < half
    i = cuda.blockIdx.x * cuda.blockDim.x + (2 * t if even else 2 * (t - half) + 1)
    if i < x.size:
        v = x[i]
        if even:
            for k in range(64):
                v = 0.99 * v + 1.0
        else:
            for k in range(64):
                v = 1.01 * v - 1.0
        out[i] = v
""",
        why=(
            "The branch is still there, but each warp agrees on it: warps 0 and 1 of a block have the even elements, "
            "warps 2 and 3 the odd ones. The price is the stride of 2: a load moves 8 sectors where it moved 4. With "
            "two neighbouring warps on the same sectors, a cache makes up for much of that."
        ),
        stretch="keep the loads coalesced too: load into shared memory first, then let each warp pick its side there.",
    ),
    Exercise(
        key="ch08.rows",
        title="rows of different lengths, in CUDA C",
        language="cuda",
        name="row_sums",
        cases=lambda: [rows_case(rows) for rows in (1, 2, 31, 33, 127, 400)],
        measured=lambda: rows_case(1024),
        budgets=(
            at_most_instructions(
                "1,024 rows", 4_000, "A warp is done when its longest row is: give it rows of one length."
            ),
        ),
        thread_of=thread_1d,
        sanitize=True,
        mistakes=(
            Mistake(
                "beyond the end of a row",
                beyond_values,
                "x is indexed by k, and row r has the elements from first[r] up to first[r + 1], without that one: "
                "k < first[r + 1].",
            ),
            ASTRAY,
            NO_GUARD,
            Mistake(
                "out is added to before it is written",
                known.found("uninitialised", space="global"),
                "What out holds at first is no number. Add up in a variable that starts at 0, and store it once.",
            ),
            Mistake(
                "an empty row has a sum as well",
                empty_rows_left_out,
                "A row without elements never enters the loop, and its sum is 0: store it behind the loop.",
            ),
            Mistake(
                "the last element of a row is left out",
                known.gives(last_left_out),
                "first[r + 1] is where the next row begins, so the elements go up to it: k < first[r + 1].",
            ),
            Mistake(
                "the sums stay in sorted order",
                known.gives(still_sorted),
                "The thread works on row order[t], and its sum belongs to that row: out[order[t]].",
            ),
            Mistake(
                "the row is not the one that order names",
                known.gives(back_to_front),
                "The sum of row t is written to another row. Read order[t] once, call it row, and use it for both.",
            ),
            Mistake(
                "the sums are whole numbers",
                whole_numbers,
                "The elements have fractions, and the variable that adds them up cannot hold any: float sum.",
            ),
            Mistake(
                "many times the work",
                lambda e: any(b.value > 12_000 for b in e.budgets),
                "The result is right. A row has some twelve elements: a whole warp has little to do with it, and one "
                "thread for all rows leaves the others idle. One thread a row is enough, if the 32 rows of a warp are "
                "of nearly the same length.",
            ),
            Mistake(
                "rows as they come",
                known.over("warp instructions for 1,024 rows"),
                "The result is right; every warp runs as long as the longest of its 32 rows. `order` lists the rows "
                "from the shortest to the longest: neighbours in it have nearly the same length.",
            ),
        ),
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
        why=(
            "With the rows sorted by length, the 32 loops of a warp end within a few rounds of one another, so its "
            "instructions are those of an average row and not of the longest of 32. The order is worth computing "
            "when it is used more than once, as for a matrix that many vectors are multiplied with."
        ),
        stretch=(
            "give each row to a whole warp, with lanes 32 apart and a sum by shuffles. When is that better? Count the "
            "sectors too."
        ),
    ),
    Exercise(
        key="ch08.table",
        title="a table for a switch, in CUDA C",
        language="cuda",
        name="table",
        cases=lambda: [table_case(n) for n in SIZES],
        measured=lambda: table_case(4096),
        budgets=(
            LOCAL,
            IDLE_WITH_A_TABLE,
            at_most_instructions("4,096 elements", 5_200, "Two loads from a table and one multiply-add are enough."),
        ),
        thread_of=thread_1d,
        sanitize=True,
        mistakes=(
            ASTRAY,
            NO_GUARD,
            Mistake(
                "the scale is forgotten",
                known.gives(scale_forgotten),
                "Every kind has two numbers: out = scale[kind] * x + shift[kind].",
            ),
            Mistake(
                "scale and shift are swapped",
                known.gives(scale_and_shift_swapped),
                "The scale is what x is multiplied by, the shift is added.",
            ),
            Mistake(
                "the place is looked up, not the kind",
                known.gives(by_place),
                "What an element wants is in kind[i]: that is the index of both tables.",
            ),
            Mistake(
                "the shift is forgotten",
                known.gives(shift_forgotten),
                "Every kind has two numbers: out = scale[kind] * x + shift[kind].",
            ),
            Mistake(
                "some kinds are right, and others not",
                some_kinds,
                "The way is right, and the numbers of some kinds are not: compare them with the cases of the switch, "
                "signs too. A table of whole numbers has no 0.5.",
            ),
            Mistake(
                "the table lies in local memory",
                known.over("loads from local memory"),
                "Each thread builds a table of its own and then reads it from local memory. Declared outside of the "
                "kernel, `__device__ const float scale[8] = {…};`, there is one for all.",
            ),
            Mistake(
                "still a jump for every kind",
                known.over("idle lanes per instruction"),
                "Up to eight kinds meet in a warp, and their cases run one after another.",
            ),
            Mistake(
                "eight selections instead of one look",
                known.over("warp instructions for 4,096 elements"),
                "No lane is idle, but every lane goes through all kinds. A load finds the right one at once.",
            ),
        ),
        hints=(
            "All cases have the same shape: a number times v, plus a number. Only the numbers differ.",
            "Two tables of eight floats, indexed by the kind. Where do they have to be declared?",
            "Above the kernel: __device__ const float scale[8] = {2.0f, …}; in it: scale[k] * x[i] + shift[k].",
        ),
        solution="""
__device__ const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};

extern "C" __global__
void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scale[kind[i]] * x[i] + shift[kind[i]];
}
""",
        why=(
            "What differs between the cases is data, so it belongs in memory and not in the program. Eight floats "
            "fill one sector: each look of a warp costs one request and one sector, whatever the kinds. Constant "
            "memory would be the wrong home: it serves one address at a time, and here the lanes ask for eight."
        ),
        stretch="make the cases polynomials of degree 3. How large may the table grow before the switch is better?",
    ),
)
