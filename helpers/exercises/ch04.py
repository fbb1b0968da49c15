"""Exercises on coalescing: the same result, from fewer sectors."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Exercise, Mistake, thread_1d
from helpers.checking.one_a_thread import FIRST_BLOCK, NO_GUARD, reached_out_from_inside
from helpers.exercises import ch04_cases as cases
from helpers.exercises.ch04_cases import GREY, HALVED, LOADS, SHAPES, SIZES, STORES, WIDE_LOADS, WIDE_TOO
from helpers.vgpu.base.errors import Misaligned

EXERCISES = (
    Exercise(
        key="ch04.halve",
        title="halve a matrix, coalesced, in Numba",
        language="numba",
        name="halve",
        cases=lambda: [cases.halve_case(*shape) for shape in SHAPES],
        measured=lambda: cases.halve_case(64, 64),
        budgets=(LOADS, STORES, HALVED),
        thread_of=None,
        mistakes=(
            Mistake(
                "the guard swaps rows and columns",
                cases.swapped,
                "Square matrices come out right, others do not. x.shape is (rows, columns): the row index is compared "
                "with shape[0] and stands first in x[row, column], the column with shape[1].",
            ),
            Mistake(
                "stored as the transposed matrix",
                known.gives_for("64 rows × 64 columns", lambda case: case.out.expected.T),
                "One of the two accesses has its indices the other way round: out[row, column] is half of x[row, "
                "column].",
            ),
            Mistake(
                "doubled, or rounded down",
                lambda e: any(
                    known.gives(lambda case, f=f: f(case.arguments[0]))(e)
                    for f in (lambda x: 2 * x, lambda x: x // 2, lambda x: np.trunc(x / 2))
                ),
                "Half of x[row, column] is x[row, column] / 2: // rounds down, and * 2 doubles.",
            ),
            NO_GUARD,
            Mistake(
                "x is the row",
                lambda e: known.spent(e, LOADS.label) == 32,
                "The result is right, but the first number of cuda.grid(2) is x, in which the lanes of a "
                "warp differ. "
                "Used as the row, it sends 32 lanes to 32 rows. Let x choose the column.",
            ),
            Mistake(
                "neighbouring lanes are apart",
                lambda e: known.over(LOADS.label)(e) or known.over(STORES.label)(e),
                "The result is right, but in some request the lanes of a warp leave gaps between them. Neighbouring "
                "threads in x should have neighbouring columns, one each.",
            ),
            Mistake(
                "one lane works, the others watch",
                lambda e: known.spent(e, LOADS.label) <= 1 and cases.times_too_many(HALVED.label)(e) == 8,
                "One lane that walks along a row asks for the same sector eight times, and 31 lanes idle. Give each "
                "thread one element.",
            ),
            Mistake(
                "every thread does everything",
                lambda e: known.spent(e, LOADS.label) <= 1 and known.over(HALVED.label)(e),
                "Right, but each thread goes through more than its own element, and so do the others. There is one "
                "thread for each element.",
            ),
            Mistake(
                "loaded more than once",
                known.over(HALVED.label),
                "Right, but elements are loaded again: by the same thread after a store, as the compiler cannot know "
                "that out is another array than x, or by threads that differ in y alone.",
            ),
            Mistake(
                "the guard leaves elements out",
                lambda e: known.untouched_somewhere(e) and not known.nothing_written(e),
                "What is written is right, but some elements never are. The guard lets all of them through whose row "
                "is below x.shape[0] and whose column is below x.shape[1].",
            ),
        ),
        hints=(
            "Which of the two indices changes from lane to lane of one warp?",
            "cuda.grid(2) gives x first. The last index of a NumPy array is the one whose neighbours touch.",
            "column, row = cuda.grid(2), then x[row, column].",
        ),
        solution="""
@cuda.jit
def halve(x, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[row, column] = x[row, column] / 2
""",
        why=(
            "The lanes of a warp differ in x. Given the last index of a C-ordered array, they touch 32 "
            "neighbouring floats: "
            "4 sectors. `i, j = cuda.grid(2)` with x[i, j] reads naturally and costs 32."
        ),
        stretch=(
            "transpose instead of halving. Can both the load and the store have 4 sectors? Chapter 05 has the answer."
        ),
    ),
    Exercise(
        key="ch04.grey",
        title="grey from planes of colour, in CUDA C",
        language="cuda",
        name="grey",
        cases=lambda: [cases.grey_case(n) for n in (1, 31, 32, 97, 128, 1000)],
        measured=lambda: cases.grey_case(4096),
        budgets=(WIDE_TOO, GREY),
        thread_of=thread_1d,
        mistakes=(
            Mistake(
                "still read as interleaved colours",
                known.gives(cases.interleaved),
                "3 * i + c is the index in an array of structs. Here each colour has a plane of n floats: c * n + i.",
            ),
            Mistake(
                "one plane's neighbours taken for colours",
                known.gives(cases.neighbours),
                "i + 1 and i + 2 are the reds of the next pixels. The green of pixel i is a plane further on: n + i.",
            ),
            Mistake(
                "the weights are mixed up",
                cases.other_weights,
                "Each colour comes from its own plane, but grey is 0.25 r + 0.5 g + 0.25 b: the second plane counts "
                "twice as much as the others.",
            ),
            Mistake(
                "a colour is left out",
                cases.colour_left_out,
                "Three planes make one grey: 0.25 r + 0.5 g + 0.25 b.",
            ),
            Mistake(
                "a quarter became 0",
                known.gives(lambda case: np.zeros_like(case.out.expected)),
                "Everything comes out as 0. In C, 1 / 4 is a division of whole numbers: write 0.25f.",
            ),
            FIRST_BLOCK,
            Mistake(
                "the index leads out of the planes",
                reached_out_from_inside,
                "It is not the guard: a thread whose pixel exists has left an array. Plane c begins at c * n, and "
                "pixel i is i further on, c * n + i; in `out` it is i.",
            ),
            NO_GUARD,
            Mistake(
                "each thread has a run of pixels",
                known.over(WIDE_TOO.label),
                "A run for each thread looks tidy from inside one thread. The warp loads together: in one "
                "request its "
                "32 lanes should read 32 neighbouring pixels.",
            ),
            Mistake(
                "one lane works, the others watch",
                lambda e: cases.times_too_many(GREY.label)(e) == 8,
                "A lane alone asks for the same sector eight times in a row. Let each thread take one pixel, so that "
                "a warp's request uses all of a sector at once.",
            ),
            Mistake(
                "every thread does everything",
                lambda e: cases.times_too_many(GREY.label)(e) > 8,
                "Right, but each thread goes through all the pixels. Each has one of its own: "
                "blockIdx.x * blockDim.x + threadIdx.x.",
            ),
            Mistake(
                "loaded more than once",
                known.over(GREY.label),
                "Right, but colours are loaded again: after a store to out the compiler cannot know that planes are as "
                "they were. Keep them in variables, and store once.",
            ),
        ),
        hints=(
            "Draw the memory: first all the reds, then all the greens, then all the blues.",
            "Plane c starts at c * n, and pixel i is i further on.",
            "out[i] = 0.25f * planes[i] + 0.5f * planes[n + i] + 0.25f * planes[2 * n + i];",
        ),
        solution="""
extern "C" __global__
void grey(const float* planes, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.25f * planes[i] + 0.5f * planes[n + i] + 0.25f * planes[2 * n + i];
}
""",
        why=(
            "A structure of arrays puts the same field of neighbouring pixels side by side. Each of the "
            "three loads takes 4 "
            "sectors, where interleaved colours take 12."
        ),
        stretch=(
            "when n is no multiple of 8, the planes for green and blue start inside a sector. Pad them, and count."
        ),
    ),
    Exercise(
        key="ch04.float4",
        title="copy four floats at a time, in CUDA C",
        language="cuda",
        name="copy4",
        cases=lambda: [cases.copy_case(n) for n in SIZES],
        measured=lambda: cases.copy_case(4096),
        budgets=(WIDE_LOADS,),
        mistakes=(
            Mistake(
                "right only for multiples of 4",
                cases.tail_of_a_four,
                "The last one, two or three floats fill no float4. One thread has to copy them one by one.",
            ),
            Mistake(
                "every block does the work of block 0",
                cases.four_blocks_worth,
                "threadIdx starts again at 0 in every block, so the first 512 floats are copied by all of them. A "
                "thread's place in the grid is blockIdx.x * blockDim.x + threadIdx.x.",
            ),
            Mistake(
                "one float a thread",
                lambda e: known.tail_missing(e) and not known.nothing_written(e),
                "The grid has one thread for four floats. Thread i looks after floats 4 * i to 4 * i + 3, not after "
                "float i alone.",
            ),
            Mistake(
                "a float4 that begins between two",
                lambda e: any(isinstance(o.error, Misaligned) for o in e.outcomes),
                "A float4 lies at a multiple of 16 bytes: float4 number i is floats 4 * i to 4 * i + 3. As a pointer "
                "to float that is in + 4 * i.",
            ),
            Mistake(
                "the index counts floats, the pointer float4s",
                cases.four_exists,
                "It is not the guard: a thread whose four floats exist has left an array. A float4 pointer goes on by "
                "four floats a step, so thread i takes element i of it.",
            ),
            Mistake(
                "the guard counts floats, the index counts float4s",
                known.out_of_bounds,
                "Thread i copies floats 4 * i to 4 * i + 3. All four must exist: 4 * i + 3 < n.",
            ),
            Mistake(
                "four small loads, not one wide one",
                lambda e: known.spent(e, WIDE_LOADS.label) == 128,
                "Each request loads one float a lane, so 4,096 floats take 128 of them. One float4 a lane takes 32: "
                "load the four of a thread at once, through a float4 pointer.",
            ),
            Mistake(
                "more requests than float4s need",
                known.over(WIDE_LOADS.label),
                "Right, but some requests are narrow, or few lanes take part. Where 4 * i + 3 < n thread i loads one "
                "float4, and so do all lanes of its warp.",
            ),
        ),
        hints=(
            "reinterpret_cast<const float4*>(in)[i] is one load of 16 bytes.",
            "Two cases: all four floats exist (4 * i + 3 < n), or some of them do (a loop over what is left).",
            "if (4 * i + 3 < n) …float4 copy…; else for (int j = 4 * i; j < n; ++j) out[j] = in[j];",
        ),
        solution="""
extern "C" __global__
void copy4(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n)
        reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
    else
        for (int j = 4 * i; j < n; ++j) out[j] = in[j];
}
""",
        why=(
            "A warp's float4 load is one request for 512 bytes: 16 sectors, all used. The bytes moved are "
            "the same as with "
            "float; the requests, and the instructions that make them, are a quarter. The else branch takes "
            "the "
            "tail."
        ),
        stretch="what happens when `in` starts one float late? Try in + 1 and read the error.",
    ),
)
