"""Exercises on occupancy: a block size for several GPUs, fewer registers without a spill, loads that go together."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Exercise, Mistake
from helpers.exercises.ch08_cases import astray
from helpers.exercises.ch09_cases import (
    EACH,
    LENGTHS,
    NOTHING_RETURNED,
    SIZES,
    THREADS,
    WIDTHS,
    always,
    block_cases,
    choosing,
    each_by_itself,
    early_case,
    gives_sums,
    most,
    one_less,
    put_together,
    spread_case,
    threads_give_up,
    without_mean,
    written_up_to,
)

EXERCISES = (
    Exercise(
        key="ch09.block",
        title="the smallest block that fills several GPUs, in Python",
        language="python",
        name="smallest_block",
        cases=block_cases,
        mistakes=(
            NOTHING_RETURNED,
            Mistake(
                "no answer is an answer, too",
                lambda e: any(o.error is None and o.got is None for o in e.outcomes),
                "Where no block is enough, it comes back without a number: return 0 behind the loop.",
            ),
            Mistake(
                "no block is ever enough",
                always(0),
                "It returns 0 whatever is asked. `return 0` stands behind the loop, not in it; the fraction is between "
                "0 and 1, as `wanted` is; `occupancy` wants the registers of a thread, and the bytes of a block.",
            ),
            Mistake(
                "a part of a warp",
                known.gives(choosing(sizes=range(1, 1025))),
                "A block of 65 threads has three warps, as one of 96 has, and leaves lanes of the third without a "
                "thread. Try multiples of 32 only.",
            ),
            Mistake(
                "one size for all needs",
                lambda e: len(e.outcomes) > 1 and len({str(o.got) for o in e.outcomes if o.error is None}) == 1,
                "It returns the same whatever is asked: try block sizes, and let `occupancy` decide.",
            ),
            Mistake(
                "one GPU is not all of them",
                lambda e: (
                    known.gives(choosing(enough=lambda found, w: found[0] >= w))(e)
                    or known.gives(choosing(enough=lambda found, w: found[-1] >= w))(e)
                    or known.gives(choosing(enough=lambda found, w: max(found) >= w))(e)
                ),
                "The block has to do on every GPU of the list: all(…) over the names.",
            ),
            Mistake(
                "each GPU by itself",
                known.gives(each_by_itself),
                "That is the largest of several blocks, each the smallest for one GPU. What is enough for the one may "
                "be too large for another: ask all GPUs about the same block.",
            ),
            Mistake(
                "an average hides the worst GPU",
                known.gives(choosing(enough=lambda found, w: sum(found) / len(found) >= w)),
                "An average lets a GPU with plenty make up for one with too little. Each has to reach what is wanted.",
            ),
            Mistake(
                "shared memory is a matter of the block",
                lambda e: (
                    known.gives(choosing(shared=lambda f, t: 4 * f))(e)
                    or known.gives(choosing(shared=lambda f, t: 0))(e)
                ),
                "`occupancy` asks for the bytes of a whole block: so many floats for each of its threads.",
            ),
            Mistake(
                "a float has four bytes",
                known.gives(choosing(shared=lambda f, t: f * t)),
                "The need is in floats, `occupancy` takes bytes.",
            ),
            Mistake(
                "the largest block instead of the smallest",
                known.gives(choosing(sizes=SIZES[::-1])),
                "Go upwards from 32 and stop at the first that does.",
            ),
            Mistake(
                "only powers of two",
                known.gives(choosing(sizes=[32 << n for n in range(6)])),
                "Any multiple of 32 is a fine block size: try 32, 64, 96, 128, and so on.",
            ),
            Mistake(
                "exactly enough is enough",
                known.gives(choosing(enough=lambda found, w: min(found) > w)),
                "At least as much as wanted: >=, not >.",
            ),
        ),
        hints=(
            "for threads in range(32, 1025, 32): ask `occupancy` for each GPU of the list.",
            "occupancy(registers, shared bytes of a block, threads, gpus.find(name)).fraction is between 0 and 1.",
            "The block's shared bytes are 4 * floats * threads. Return the first `threads` for which all fractions "
            "are at least `wanted`, and 0 after the loop.",
        ),
        solution="""
from helpers import gpus, occupancy

def smallest_block(registers, floats, names, wanted):
    for threads in range(32, 1025, 32):
        held = [occupancy(registers, 4 * floats * threads, threads, gpus.find(name)) for name in names]
        if all(each.fraction >= wanted for each in held):
            return threads
    return 0
""",
        why=(
            "Occupancy is arithmetic on four limits, so all block sizes can be tried before anything runs. A power of "
            "two is no requirement: 96 threads are three whole warps, and here they do what 64 cannot."
        ),
        stretch="return the block size whose worst occupancy is best, and see how often several sizes tie.",
    ),
    Exercise(
        key="ch09.spread",
        title="the variance of 64 values a thread, in few registers, in Numba",
        language="numba",
        name="spread",
        cases=lambda: [spread_case(n) for n in WIDTHS],
        measured=lambda: spread_case(256),
        tolerance=1e-3,
        budgets=(
            Budget(
                "registers a thread, at worst of T4, A100 and H100",
                most("registers"),
                48,
                "48 registers leave room for 40 warps on an A100.",
            ),
            Budget(
                "bytes of spills a thread",
                lambda profile: most("spill_store_bytes")(profile) + most("spill_load_bytes")(profile),
                0,
                "A limit on registers does not make values fewer.",
            ),
            Budget(
                "requests to local memory",
                lambda profile: profile["local_requests"],
                0,
                "An array whose index is not known to the compiler cannot stand in registers.",
                "local_load_requests",
            ),
            Budget(
                "sectors loaded for 64 × 256 floats",
                lambda profile: profile["global_read_sectors"],
                2100,
                "Each value is needed once: 64 · 256 · 4 / 32 = 2,048 sectors.",
            ),
        ),
        mistakes=(
            Mistake(
                "an index has gone astray",
                astray,
                "The thread that stopped has a column of its own, so it is no guard that is missing. Value k of column "
                "i is x[k, i], rows first, and k goes from 0 to 63.",
            ),
            Mistake("no guard", known.out_of_bounds, "The last block has threads beyond the last column."),
            Mistake(
                "the mean is no variance",
                put_together(lambda mean, squares: mean),
                "That is the mean. The variance is the mean of the squares less the square of the mean.",
            ),
            Mistake(
                "a root too many",
                put_together(lambda mean, squares: np.sqrt(squares - mean * mean)),
                "That is the standard deviation, the root of the variance.",
            ),
            Mistake(
                "the sum is not divided",
                put_together(lambda mean, squares: 64 * (squares - mean * mean)),
                "That is the sum of the squared differences. Divide it by 64.",
            ),
            Mistake(
                "the mean is not squared",
                put_together(lambda mean, squares: squares - mean),
                "The mean of the squares is less by the square of the mean, not by the mean.",
            ),
            Mistake(
                "the wrong way round",
                put_together(lambda mean, squares: mean * mean - squares),
                "The sign is wrong: the mean of the squares is the larger of the two.",
            ),
            Mistake(
                "the mean is not taken off",
                known.gives(without_mean),
                "That is the mean of the squares. The variance is less by the square of the mean.",
            ),
            Mistake(
                "divided by 63",
                known.gives(one_less),
                "These 64 values are all there are: divide by 64, as np.var does.",
            ),
            Mistake(
                "an array in local memory",
                known.over("requests to local memory"),
                "The loop's length is not known to the compiler, so the array has to be memory. Keep no array at all.",
            ),
            Mistake(
                "the registers were taken away, the values were not",
                known.over("bytes of spills a thread"),
                "The compiler was told to use fewer registers, and now moves the values to local memory and back. "
                "Let the kernel need fewer.",
            ),
            Mistake(
                "all 64 values are held at once",
                known.over("registers a thread, at worst of T4, A100 and H100"),
                "The compiler has many of the 64 values in registers at one time. A second pass wants them again: can "
                "one pass do? And a loop of 64 may be unrolled, with all loads ahead of the sums: one over x.shape[0], "
                "which the compiler does not know, is not.",
            ),
            Mistake(
                "a lane alone asks for values",
                lambda e: any(b.label.startswith("sectors") and b.value > 10_000 for b in e.budgets),
                "Right, with a sector for every value. Neighbouring lanes take neighbouring columns: thread i has "
                "column i, and no other.",
            ),
            Mistake(
                "every value is loaded twice",
                known.over("sectors loaded for 64 × 256 floats"),
                "Few registers, but twice the traffic. Collect all that you need while a value passes by.",
            ),
        ),
        hints=(
            "Which of the 64 values must still be known when the next one is loaded? Two sums are enough.",
            "The variance is the mean of the squares less the square of the mean.",
            "total += v; squares += v * v in one loop; then mean = total / 64 and squares / 64 - mean * mean.",
        ),
        solution="""
@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total, squares = 0.0, 0.0
        for k in range(64):
            v = x[k, i]
            total += v
            squares += v * v
        mean = total / 64
        out[i] = squares / 64 - mean * mean
""",
        why=(
            "Two sums take the place of 64 values. (0.0 makes them float64 in Numba, which does no harm to the result: "
            "the two terms may be close, and float32 would lose digits.) The compiler may still load several values "
            "ahead, for it knows that they do not depend on one another."
        ),
        stretch="use Welford's update instead, which keeps its digits even in float32, and look at registers again.",
    ),
    Exercise(
        key="ch09.early",
        title="four elements a thread, loaded together, in CUDA C",
        language="cuda",
        name="four",
        cases=lambda: [early_case(n) for n in LENGTHS],
        measured=lambda: early_case(2 * EACH * THREADS),
        budgets=(
            Budget(
                "times that a warp waits for memory",
                lambda chain: chain.waits,
                1,
                "Ask for all eight values before you use the first.",
                of="warp",
            ),
            Budget(
                "sectors loaded for 2 × 1,024 floats",
                lambda profile: profile["global_read_sectors"],
                260,
                "32 lanes that read 32 neighbours need 4 sectors.",
            ),
        ),
        mistakes=(
            Mistake(
                "no guard",
                known.out_of_bounds,
                "Each of the four elements may lie beyond the end: each needs a guard of its own.",
            ),
            Mistake(
                "the factor belongs to x",
                gives_sums(lambda x, y: x + np.float32(3) * y),
                "It is 3 · x + y: the 3 stands with y here.",
            ),
            Mistake("the factor is missing", gives_sums(lambda x, y: x + y), "It is 3 · x + y: the 3 is not there."),
            Mistake(
                "the last threads give up",
                threads_give_up,
                "A thread whose four elements are not all there writes none of them. Those that exist are its work.",
            ),
            Mistake(
                "only the first of four",
                written_up_to(lambda blocks: THREADS * blocks),
                "A thread has four elements, each a whole grid of threads after the one before.",
            ),
            Mistake(
                "steps of a block",
                written_up_to(lambda blocks: THREADS * (blocks + EACH - 1)),
                "The threads of a grid are gridDim.x * blockDim.x: after blockDim.x the next block's elements begin.",
            ),
            Mistake(
                "neighbours in a thread instead of neighbours in a warp",
                known.over("sectors loaded for 2 × 1,024 floats"),
                "A thread with four elements side by side leaves its neighbours four apart: chapter 04. Let the four "
                "be a whole grid of threads apart.",
            ),
            Mistake(
                "a value is used before the next is asked for",
                known.over("times that a warp waits for memory"),
                "A warp runs in order. What stands between two loads in the PTX? A store: no load may be moved above "
                "it, for out might be x. Or a guard: behind it the compiler puts the product beside its load. So load "
                "all values first, at places that exist for sure, and guard the stores alone.",
            ),
        ),
        hints=(
            "Two loops: one loads, one computes and stores.",
            "float v[4], w[4]; with #pragma unroll both loops' indices are known, and the arrays are registers.",
            "The first loop needs no if: min(i + k * all, n - 1) is an element that exists. The second stores where "
            "i + k * all < n.",
        ),
        solution="""
extern "C" __global__
void four(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[4], w[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        int at = min(i + k * all, n - 1);
        v[k] = x[at];
        w[k] = y[at];
    }
    #pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k * all < n) out[i + k * all] = 3 * v[k] + w[k];
}
""",
        why=(
            "A warp stands still at the first value that is not there, and loads before it are under way together: "
            "eight requests for one wait. The clamped index costs a few loads of the last element at the end of the "
            "array. The order counted here is that of PTX; the assembler may improve on it where it is allowed to, as "
            "with __restrict__ on x, y and out."
        ),
        stretch="eight elements a thread: how do registers and occupancy change, and does widgets.scheduler gain?",
    ),
)
