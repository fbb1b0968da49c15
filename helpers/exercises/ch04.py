"""Exercises on coalescing: the same result, from fewer sectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.exercises import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.exercises import mistakes as known
from helpers.exercises.one_a_thread import FIRST_BLOCK, NO_GUARD, reached_out_from_inside
from helpers.vgpu.errors import Misaligned, OutOfBounds

TILE = (32, 8)
BLOCK = 128
SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64))
SIZES = (1, 2, 3, 4, 5, 127, 128, 512, 1021)


def _halve_case(rows: int, columns: int) -> Case:
    x = numbers((rows, columns), seed=rows)
    longest = max(rows, columns)  # so that both ways of reading cuda.grid(2) reach every element
    return Case(
        f"{plural(rows, 'row')} × {plural(columns, 'column')}",
        (x, Out(x / 2)),
        (cover(longest, TILE[0]), cover(longest, TILE[1])),
        TILE,
    )


def _grey_case(n: int) -> Case:
    planes = numbers((3, n), seed=n)
    wanted = (planes[0] / 4 + planes[1] / 2 + planes[2] / 4).astype(np.float32)
    return Case(plural(n, "pixel"), (planes, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def _interleaved(case: Case) -> np.ndarray:
    colours = case.arguments[0].ravel().reshape(-1, 3)
    return colours[:, 0] / 4 + colours[:, 1] / 2 + colours[:, 2] / 4


def _neighbours(case: Case) -> np.ndarray:
    flat, n = case.arguments[0].ravel(), case.arguments[0].shape[1]
    return flat[:n] / 4 + flat[1 : n + 1] / 2 + flat[2 : n + 2] / 4


def _other_weights(evidence) -> bool:
    """Each colour comes from its own plane, with another colour's weight, or all alike, or with the eye's."""
    mixed = ((2, 1, 1), (1, 1, 2), (4 / 3,) * 3, (4, 4, 4), (1, 1, 1), (2, 2, 2), (1.196, 2.348, 0.456))
    return any(
        known.gives(lambda case, w=weights: np.tensordot(np.array(w) / 4, case.arguments[0], 1))(evidence)
        for weights in mixed
    )


def _swapped(evidence) -> bool:
    """Right where a matrix has as many rows as columns, out of bounds or left out where it has not."""
    square = [o.ok for o in evidence.outcomes if len(set(o.case.out.expected.shape)) == 1]
    left_out = known.untouched_somewhere(evidence) and not known.nothing_written(evidence)
    return all(square) and (known.out_of_bounds(evidence) or left_out)


def _colour_left_out(evidence) -> bool:
    left_out = ((0, 2, 1), (1, 0, 1), (1, 2, 0))
    return any(
        known.gives(lambda case, w=weights: np.tensordot(np.array(w) / 4, case.arguments[0], 1))(evidence)
        for weights in left_out
    )


def _spent(evidence, label: str) -> float:
    return next((spent.value for spent in evidence.budgets if spent.label == label), 0)


def _times_too_many(label: str) -> Callable:
    """How many times more sectors were loaded than there are."""
    return lambda evidence: _spent(evidence, label) / (4 * int(label.split()[3].replace(",", "")) / 32)


def _four_exists(evidence) -> bool:
    """Only threads whose four floats exist have left an array."""
    faults = [(o.error, o.case) for o in evidence.outcomes if isinstance(o.error, OutOfBounds)]
    return bool(faults) and all(
        4 * (error.block[0] * BLOCK + error.thread[0]) + 3 < case.out.expected.size for error, case in faults
    )


def _tail_of_a_four(evidence) -> bool:
    """Fewer than four elements are missing, at the end, and only where the size is no multiple of 4."""
    failed = [o for o in evidence.outcomes if not o.ok]
    return known.tail_missing(evidence) and all(o.untouched.sum() < 4 and o.case.out.expected.size % 4 for o in failed)


def _four_blocks_worth(evidence) -> bool:
    """Just the floats of the first block's threads are written."""
    failed = [o for o in evidence.outcomes if not o.ok]
    return known.partly_written(evidence) and all(not o.untouched[: 4 * BLOCK].any() for o in failed)


def _copy_case(n: int) -> Case:
    x = numbers(n, seed=n)
    return Case(plural(n, "element"), (x, Out(x.copy()), np.int32(n)), (cover(cover(n, 4), BLOCK),), (BLOCK,))


def _ratio(over: str, under: str):
    return lambda profile: profile[over] / max(1, profile[under])


LOADS = Budget(
    "sectors per load request",
    _ratio("global_load_sectors", "global_load_requests"),
    4.2,
    "32 neighbouring floats fill 4 sectors; lanes that read far apart drag in a sector each.",
)
STORES = Budget(
    "sectors per store request",
    _ratio("global_store_sectors", "global_store_requests"),
    4.2,
    "Stores are counted like loads: neighbouring lanes should write neighbouring elements.",
    "global_store_sectors",
)


def _sectors_in_all(floats: int) -> Budget:
    """Every sector of so many floats once, and a few to spare: a single lane at work makes good ratios, too."""
    return Budget(
        f"sectors loaded for {floats:,} floats",
        lambda profile: profile["global_load_sectors"],
        floats * 4 // 32 + 4,
        "8 floats fill a sector: fetch each sector once, for all the lanes that want it.",
    )


HALVED, GREY = _sectors_in_all(64 * 64), _sectors_in_all(3 * 4096)
WIDE_TOO = Budget(
    "sectors per 128 bytes of a load request",
    lambda p: p["global_load_sectors"] / max(1, p["global_load_requests"], p["global_load_bytes"] / 128),
    4.2,
    "32 neighbouring floats fill 4 sectors, and 32 neighbouring float4s 16, 4 for each 128 bytes.",
)

WIDE_LOADS = Budget(
    "load requests for 4,096 floats",
    lambda profile: profile["global_load_requests"],
    33,
    "A warp's float4 load fetches 128 floats in one request: 4,096 floats need 32 requests.",
    "global_load_requests",
)

EXERCISES = (
    Exercise(
        key="ch04.halve",
        title="halve a matrix, coalesced, in Numba",
        language="numba",
        name="halve",
        cases=lambda: [_halve_case(*shape) for shape in SHAPES],
        measured=lambda: _halve_case(64, 64),
        budgets=(LOADS, STORES, HALVED),
        thread_of=None,
        mistakes=(
            Mistake(
                "the guard swaps rows and columns",
                _swapped,
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
                lambda e: _spent(e, LOADS.label) == 32,
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
                lambda e: _spent(e, LOADS.label) <= 1 and _times_too_many(HALVED.label)(e) == 8,
                "One lane that walks along a row asks for the same sector eight times, and 31 lanes idle. Give each "
                "thread one element.",
            ),
            Mistake(
                "every thread does everything",
                lambda e: _spent(e, LOADS.label) <= 1 and known.over(HALVED.label)(e),
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
        cases=lambda: [_grey_case(n) for n in (1, 31, 32, 97, 128, 1000)],
        measured=lambda: _grey_case(4096),
        budgets=(WIDE_TOO, GREY),
        thread_of=thread_1d,
        mistakes=(
            Mistake(
                "still read as interleaved colours",
                known.gives(_interleaved),
                "3 * i + c is the index in an array of structs. Here each colour has a plane of n floats: c * n + i.",
            ),
            Mistake(
                "one plane's neighbours taken for colours",
                known.gives(_neighbours),
                "i + 1 and i + 2 are the reds of the next pixels. The green of pixel i is a plane further on: n + i.",
            ),
            Mistake(
                "the weights are mixed up",
                _other_weights,
                "Each colour comes from its own plane, but grey is 0.25 r + 0.5 g + 0.25 b: the second plane counts "
                "twice as much as the others.",
            ),
            Mistake(
                "a colour is left out",
                _colour_left_out,
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
                lambda e: _times_too_many(GREY.label)(e) == 8,
                "A lane alone asks for the same sector eight times in a row. Let each thread take one pixel, so that "
                "a warp's request uses all of a sector at once.",
            ),
            Mistake(
                "every thread does everything",
                lambda e: _times_too_many(GREY.label)(e) > 8,
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
        cases=lambda: [_copy_case(n) for n in SIZES],
        measured=lambda: _copy_case(4096),
        budgets=(WIDE_LOADS,),
        mistakes=(
            Mistake(
                "right only for multiples of 4",
                _tail_of_a_four,
                "The last one, two or three floats fill no float4. One thread has to copy them one by one.",
            ),
            Mistake(
                "every block does the work of block 0",
                _four_blocks_worth,
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
                _four_exists,
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
                lambda e: _spent(e, WIDE_LOADS.label) == 128,
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
