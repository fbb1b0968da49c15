"""Exercises on coalescing: the same result, from fewer sectors."""

from __future__ import annotations

import numpy as np

from helpers.exercises import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.exercises import mistakes as known
from helpers.exercises.ch00 import NO_GUARD

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
    """Each colour comes from its own plane, with another colour's weight, or all alike."""
    mixed = ((2, 1, 1), (1, 1, 2), (4 / 3, 4 / 3, 4 / 3))
    return any(
        known.gives(lambda case, w=weights: np.tensordot(np.array(w) / 4, case.arguments[0], 1))(evidence)
        for weights in mixed
    )


def _swapped(evidence) -> bool:
    """Right where a matrix has as many rows as columns, out of bounds or left out where it has not."""
    square = [o.ok for o in evidence.outcomes if len(set(o.case.out.expected.shape)) == 1]
    left_out = known.untouched_somewhere(evidence) and not known.nothing_written(evidence)
    return all(square) and (known.out_of_bounds(evidence) or left_out)


def _whole_blocks_right(evidence) -> bool:
    return any(o.ok for o in evidence.outcomes if o.case.out.expected.size == BLOCK)


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
        budgets=(LOADS, STORES, _sectors_in_all(64 * 64)),
        thread_of=None,
        mistakes=(
            Mistake(
                "the guard swaps rows and columns",
                _swapped,
                "Square matrices come out right, others do not. x.shape is (rows, columns): the row index is compared "
                "with shape[0] and stands first in x[row, column], the column with shape[1].",
            ),
            NO_GUARD,
            Mistake(
                "x is the row",
                known.over("sectors per load request"),
                "The result is right, but the first number of cuda.grid(2) is x, in which the lanes of a "
                "warp differ. "
                "Used as the row, it sends 32 lanes to 32 rows. Let x choose the column.",
            ),
            Mistake(
                "one lane works, the others watch",
                known.over("sectors loaded for 4,096 floats"),
                "One lane that walks along a row asks for the same sector eight times, and 31 lanes idle. Give each "
                "thread one element.",
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
        budgets=(LOADS, _sectors_in_all(3 * 4096)),
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
                "the index leads out of the planes",
                lambda e: known.out_of_bounds(e) and not _whole_blocks_right(e),
                "It is not the guard: whole blocks fail as well. Plane c begins at c * n, and pixel i is i further on: "
                "c * n + i.",
            ),
            NO_GUARD,
            Mistake(
                "each thread has a run of pixels",
                known.over("sectors per load request"),
                "A run for each thread looks tidy from inside one thread. The warp loads together: in one "
                "request its "
                "32 lanes should read 32 neighbouring pixels.",
            ),
            Mistake(
                "one lane works, the others watch",
                known.over("sectors loaded for 12,288 floats"),
                "A lane alone asks for the same sector eight times in a row. Let each thread take one pixel, so that "
                "a warp's request uses all of a sector at once.",
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
                lambda e: known.tail_missing(e) and all(o.case.out.expected.size % 4 for o in e.outcomes if not o.ok),
                "The last one, two or three floats fill no float4. One thread has to copy them one by one.",
            ),
            Mistake(
                "one float a thread",
                lambda e: known.tail_missing(e) and not known.nothing_written(e),
                "The grid has one thread for four floats. Thread i looks after floats 4 * i to 4 * i + 3, not after "
                "float i alone.",
            ),
            Mistake(
                "the guard counts floats, the index counts float4s",
                known.out_of_bounds,
                "Thread i copies floats 4 * i to 4 * i + 3. All four must exist: 4 * i + 3 < n.",
            ),
            Mistake(
                "four small loads, not one wide one",
                known.over("load requests for 4,096 floats"),
                "Four neighbours for each thread, loaded one by one: each request then strides over 4 "
                "floats. Load them at "
                "once through a float4 pointer.",
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
