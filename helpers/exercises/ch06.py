"""Exercises on synchronisation: right for every schedule, which is what the sanitizer asks, and cheap besides."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Exercise, Mistake
from helpers.exercises import ch06_cases as cases
from helpers.exercises.ch06_cases import ATOMICS, NEVER_COME, ONE_A_BLOCK

EXERCISES = (
    Exercise(
        key="ch06.smooth",
        title="mend the missing barriers, in Numba",
        language="numba",
        name="smooth",
        cases=lambda: [cases.smooth_case(n) for n in (1, 31, 97, 128, 131, 1000)],
        sanitize=True,
        also_wrong=("barrier_ended",),
        mistakes=(
            Mistake(
                "threads that never come to the barrier",
                known.hinted("barrier_ended"),
                "Threads without an element end, or skip the loop, while others wait at its barriers. The result "
                "is right here, and yet CUDA promises nothing: a barrier wants the whole block. Guard the work only.",
            ),
            Mistake(
                "the first thread has no left neighbour",
                known.gives(cases.wraps_round),
                "s[t - 1] of thread 0 is s[-1], the last element. The first of a block is averaged with itself.",
            ),
            Mistake(
                "__syncwarp orders one warp",
                lambda evidence: (
                    known.found(*known.RACES)(evidence) and all(map(cases.between_warps, evidence.findings))
                ),
                "syncwarp() orders 32 lanes. Thread 32 reads what thread 31 writes, and that is another warp.",
            ),
            Mistake(
                "reads and writes of one round are not kept apart",
                lambda evidence: any(map(cases.overwrites, evidence.findings)),
                "A round reads the neighbour's old value and then overwrites its own. Without a barrier between the "
                "two, a fast neighbour has overwritten what a slow thread still wants to read.",
            ),
            Mistake(
                "no barrier before a round reads",
                known.found(*known.RACES, space="shared"),
                "A round begins by reading s[t - 1]. The neighbour must have finished writing it: at the load, and at "
                "the end of the round before.",
            ),
        ),
        hints=(
            "Which thread writes s[t - 1], and when? Look for every pair of a write and a read of one element.",
            "Three pairs: the load and the first round; a round's reads and its writes; its writes and the next "
            "round's reads.",
            "cuda.syncthreads() after the load, after `left = …`, and after the write at the end of the loop, each "
            "outside any `if`.",
        ),
        solution="""
@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(128, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    for _ in range(3):
        left = s[t - 1] if t > 0 else s[t]
        cuda.syncthreads()
        s[t] = (s[t] + left) / 2
        cuda.syncthreads()
    if i < x.size:
        out[i] = s[t]
""",
        why=(
            "In-place work needs two barriers a round: one so that everybody has read the old values before anybody "
            "writes, one so that everybody has written before anybody reads again. Threads beyond the end carry a zero "
            "along rather than leave, so that all of the block reaches every barrier."
        ),
        stretch="use two shared arrays in turn, reading one and writing the other: how many barriers a round are left?",
    ),
    Exercise(
        key="ch06.histogram",
        title="a histogram within a budget of atomics, in CUDA C",
        language="cuda",
        name="histogram",
        cases=lambda: [
            cases.histogram_case(1, 1),
            cases.histogram_case(31, 7),
            cases.histogram_case(1000, 64, hot=5),
            cases.histogram_case(1021, 61),
            cases.histogram_case(916, 64),  # in the last block a few threads have a second value
            cases.histogram_case(4096, 64),
        ],
        measured=lambda: cases.histogram_case(8192, 64),
        budgets=(ATOMICS,),
        sanitize=True,
        also_wrong=("barrier_ended",),
        mistakes=(
            Mistake(
                "a barrier is missing",
                known.both(
                    known.found(*known.RACES, space="shared"),
                    lambda e: not known.found("race_read_write", "race_write_write", "race_lanes")(e),
                ),
                "Two barriers: one between setting bins to zero and counting, one between counting and adding up.",
            ),
            NEVER_COME,
            Mistake(
                "counts are set to zero by every block",
                known.found("race_atomic", space="global"),
                "One block sets `counts` to 0, or stores to it, while another may have added already, and nothing "
                "orders blocks. `counts` come as zeros: only add to them.",
            ),
            Mistake(
                "nothing is counted yet",
                known.gives(lambda case: np.zeros_like(case.out.expected)),
                "Every bin still holds 0. Begin with a loop over the values; then give each block bins of its own.",
            ),
            Mistake(
                "the private bins do not start at zero",
                known.found("uninitialised", space="shared"),
                "Shared memory holds whatever lay there. Let the threads set the bins to zero, then a barrier.",
            ),
            Mistake(
                "counted without an atomic",
                lambda e: any(
                    known.found("race_read_write", "race_write_write", "race_lanes", source=text)(e)
                    for text in ("++", "+= 1", "+ 1")
                ),
                "Adding one is a read, a sum and a write. Two threads with the same value lose one of two counts.",
            ),
            Mistake(
                "the last block wins",
                known.found("race_write_write", "race_read_write", "race_lanes", space="global"),
                "Every block has bins of its own. Storing them overwrites what others stored: add them, atomically.",
            ),
            Mistake(
                "shared memory that the launch does not give",
                cases.no_dynamic,
                "The launch asks for no dynamic shared memory: give the array a size, __shared__ int mine[64].",
            ),
            Mistake(
                "more threads than bins",
                known.past_shared,
                "A block has 128 threads and at most 64 bins: declare 64, set a bin to zero, and add it up, only if "
                "t < bins.",
            ),
            Mistake(
                "counted many times over",
                cases.many_times,
                "Every bin holds the right number several times. Each value has one thread of the whole grid, and each "
                "bin of a block is added up by one thread of it.",
            ),
            Mistake(
                "the counts of one block alone",
                cases.of_one_block,
                "The bins hold what one block has counted. Each block adds its own bins, with atomicAdd: anything else "
                "overwrites what the others have brought.",
            ),
            Mistake(
                "the values are added up",
                known.gives(
                    lambda case: np.bincount(case.arguments[0], case.arguments[0], minlength=case.arguments[3])
                ),
                "A value says which bin; what is added to the bin is 1.",
            ),
            Mistake(
                "one value a thread",
                lambda evidence: known.gives(cases.first_threads_only)(evidence),
                "512 threads looked at 512 values and stopped. Step on by gridDim.x * blockDim.x until n.",
            ),
            Mistake(
                "atomics on global memory",
                known.over("global atomic requests for 8,192 values"),
                "Right, with too many requests: one for each warp's values, or one for each bin where threads add up "
                "alone. Count in shared memory, then let 64 threads add a bin each.",
            ),
        ),
        hints=(
            "Give each block bins of its own in shared memory; the global ones get one sum a block.",
            "Three parts with a barrier between each: set to zero, count with a loop over the values, add up.",
            "if (t < bins) mine[t] = 0; __syncthreads(); for (…) atomicAdd(&mine[values[i]], 1); __syncthreads(); "
            "if (t < bins) atomicAdd(&counts[t], mine[t]);",
        ),
        solution="""
extern "C" __global__
void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int mine[64];
    int t = threadIdx.x;
    if (t < bins) mine[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[values[i]], 1);
    __syncthreads();
    if (t < bins) atomicAdd(&counts[t], mine[t]);
}
""",
        why=(
            "Counting happens in the block's own memory, where only 128 threads compete. Each block then adds its 64 "
            "bins with two requests, whatever the number of values. The barriers stand outside every `if`: a thread "
            "without a bin still has to arrive."
        ),
        stretch="give each warp bins of its own (4 × 64). What happens to the shared wavefronts when all values agree?",
    ),
    Exercise(
        key="ch06.argmax",
        title="the largest element and its place, in Numba",
        language="numba",
        name="argmax",
        cases=cases.argmax_cases,
        measured=lambda: cases.argmax_cases()[3],
        budgets=(ONE_A_BLOCK,),
        sanitize=True,
        also_wrong=("barrier_ended",),
        mistakes=(
            NEVER_COME,
            Mistake(
                "read beside an atomic",
                known.both(
                    known.found("race_atomic", space="global"),
                    lambda e: not known.found("race_read_write", "race_write_write", "race_lanes")(e),
                ),
                "out[0] is read, or stored to, while another thread may be changing it by an atomic. cuda.atomic.max "
                "compares by itself: no `if` is needed in front of it.",
            ),
            Mistake(
                "the last block wins",
                known.both(
                    known.found("race_write_write", space="global"),
                    lambda e: not known.found("race_read_write", "race_lanes")(e),
                ),
                "Each block stores its own best over that of the others. cuda.atomic.max keeps the larger of the two.",
            ),
            Mistake(
                "compared, then stored",
                known.found(*known.RACES, space="global"),
                "Between `if key > out[0]` and the store others may store a larger key, which is then lost. "
                "cuda.atomic.max does both in one piece.",
            ),
            Mistake(
                "the best of the block is never set",
                known.found("uninitialised", space="shared"),
                "Shared memory holds whatever lay there: one thread sets it to the lowest number, then a barrier.",
            ),
            Mistake(
                "a barrier is missing",
                known.found(*known.RACES, space="shared"),
                "The block's best is set, then compared with, then read. Between each of these stands a barrier.",
            ),
            Mistake(
                "the last of equals",
                known.gives(cases.last_place),
                "With the index itself in the lower half the larger index wins among equals. The first place is asked "
                "for: store 2³¹ - 1 - i.",
            ),
            Mistake(
                "the value without its place",
                known.gives(cases.values_only),
                "The number has two halves: the value, shifted left by 32 bits, and the place below it.",
            ),
            Mistake(
                "added to the best",
                known.gives(cases.sum_of_bests),
                "cuda.atomic.add adds each block's key to what is there. The larger of the two is wanted: "
                "cuda.atomic.max.",
            ),
            Mistake(
                "the place stands above the value",
                known.gives(cases.place_first),
                "The upper half decides. Put the value there, shifted left by 32 bits, and the place below it.",
            ),
            Mistake(
                "one element a thread",
                known.gives(cases.first_keys_only),
                "512 threads looked at 512 elements and stopped. Step on by cuda.gridsize(1) until x.size.",
            ),
            Mistake(
                "the place without its value",
                cases.place_only,
                "Asked is the whole key: the value, shifted left by 32 bits, and 2³¹ - 1 - i below it.",
            ),
            Mistake(
                "another lower half",
                known.gives(lambda case: case.out.expected + (1 << 31)),
                "The lower half is 0x7FFFFFFF - i, which has 31 bits.",
            ),
            Mistake(
                "zero is taken for the least",
                cases.below_zero_only,
                "With all elements below zero the best is below zero, too. Start from the lowest 64-bit number.",
            ),
            Mistake(
                "every thread asks global memory",
                known.over("global atomic requests for 4 blocks"),
                "Right, and one request for each warp and round. Let a block agree on its best first.",
            ),
        ),
        hints=(
            "Two numbers cannot change in one atomic. One number that holds both can.",
            "np.int64(x[i]) << 32 | (0x7FFFFFFF - i) is larger for larger x[i], and among equals for smaller i.",
            "A shared array of one int64: thread 0 sets it to -(1 << 63); barrier; all use cuda.atomic.max on it in a "
            "grid-stride loop; barrier; thread 0 uses cuda.atomic.max on out.",
        ),
        solution="""
import numpy as np

@cuda.jit
def argmax(x, out):
    best = cuda.shared.array(1, "int64")
    if cuda.threadIdx.x == 0:
        best[0] = -(1 << 63)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(best, 0, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(out, 0, best[0])
""",
        why=(
            "An atomic changes one word. Value and place in one 64-bit word change together, so the place belongs to "
            "the value. The order of the halves does the rest: values are compared first, and 2³¹ - 1 - i makes the "
            "first of equals the largest. The block agrees in shared memory, and only one thread of it asks the GPU."
        ),
        stretch="each thread can keep its own best in a register during the loop. How many shared atomics are left?",
    ),
)
