"""Lab 05, reductions and scans: sums that fit any launch, any associative operator, and places without atomics."""

from __future__ import annotations

from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Budget, Exercise, cover
from helpers.checking.measures import loaded_for_needed, per_block, per_warp, stored_for_needed, total
from helpers.exercises import lab05_cases as cases
from helpers.exercises import lab05_mistakes as mistakes
from helpers.exercises import lab05_scan_mistakes as scan_mistakes
from helpers.exercises.lab05_cases import BLOCK
from helpers.exercises.lab05_mistakes import LOADED, STORES

ENDED = ("mask_ended", "barrier_ended")  # what such lanes would send is undefined, and a barrier wants the whole block


def _barriers_a_round(profile) -> float:
    """Barriers of a warp for each 256 elements; from what was read, how many they are is known to a sector."""
    rounds = cover(profile.counters.footprint.read_bytes, 4 * BLOCK)
    return profile["synchronisations"] / profile.counters.warps / max(1, rounds)


COALESCED = Budget(
    LOADED,
    loaded_for_needed,
    1.1,
    "Every sector comes once if the lanes of a warp read neighbours, and nobody reads them again.",
)

EXERCISES = (
    Exercise(
        key="lab05.total",
        title="the sum of an array by any launch, in CUDA C",
        language="cuda",
        name="total",
        cases=lambda: [
            cases.total_case(*launch)
            for launch in ((1, 1, 32), (31, 2, 32), (97, 1, 96), (1000, 3, 128), (1021, 4, 320), (5000, 2, 1024))
        ],
        measured=lambda: cases.total_case(8192, 8, 128),
        shared_out=True,
        drawn=cases.totals_drawn,
        sanitize=True,
        also_wrong=ENDED,
        budgets=(
            COALESCED,
            Budget(
                STORES,
                per_warp("shared_write_requests"),
                1.25,
                "Within a warp lanes add by shuffles, which take no shared memory. One number a warp is left to store.",
                "shared_store_requests",
            ),
            Budget(
                "global atomics per block",
                per_block("global_update_requests"),
                1,
                "Add up within the block first; then one thread of it adds to the result.",
                "global_atomic_requests",
            ),
            SHARED_OUT,
        ),
        mistakes=mistakes.TOTAL,
        hints=(
            "The loop is done. What is left has three steps: lanes, warps, blocks.",
            "Five __shfl_down_sync, by 16, 8, 4, 2 and 1, leave a warp's sum in lane 0, which stores it to s[t / 32].",
            "After __syncthreads(), thread 0 adds s[0] to s[blockDim.x / 32 - 1] and calls atomicAdd(out, …) once.",
        ),
        why=(
            "A sum is associative, so each level may add what lies nearest: a thread its own elements without any "
            "help, a warp its lanes through registers, a block its warps through shared memory, the grid its blocks "
            "through one address. Every level is some 32 times smaller than the one below, so only the first costs "
            "anything: the loads. Nothing here depends on the launch, so you are free to choose it for the GPU, with "
            "as many blocks as fill it and no more."
        ),
        stretch="load float4, four floats at once. Which counters change, and which budget notices?",
    ),
    Exercise(
        key="lab05.logsumexp",
        title="log-sum-exp of each row, in Numba",
        language="numba",
        name="logsumexp",
        cases=lambda: [cases.rows_case(*shape) for shape in ((1, 1), (2, 31), (5, 97), (4, 32), (7, 501))],
        measured=lambda: cases.rows_case(6, 1024),
        drawn=cases.rows_drawn,
        sanitize=True,
        shared_out=True,
        also_wrong=ENDED,
        budgets=(
            COALESCED,
            Budget(
                "shared requests",
                total("shared_requests", "global_update_requests"),
                0,
                "The lanes of one warp share a row, and reach one another's registers by shuffles.",
                "shared_load_requests",
            ),
        ),
        mistakes=mistakes.LOGSUMEXP,
        hints=(
            "Each lane keeps two numbers: m, the greatest so far, and d, the sum of exp(x - m) so far. What happens "
            "to d when m grows?",
            "Two such pairs join to m = max(m1, m2) and d = d1 · exp(m1 - m) + d2 · exp(m2 - m). An element x is the "
            "pair (x, 1), and (anything finite, 0) changes nothing.",
            "Per element: big = max(m, v); d = d * math.exp(m - big) + math.exp(v - big); m = big. Then the same with "
            "the pair that shfl_xor_sync brings from 16, 8, 4, 2 and 1 lanes away.",
        ),
        why=(
            "A reduction needs an associative operator, not a sum: here it joins pairs of a maximum and a sum that is "
            "relative to it. That turns two passes over a row into one, and is the core of the softmax in "
            "FlashAttention, which never holds a whole row. The neutral pair has sum 0; its maximum may be anything "
            "finite, where -inf would give -inf - (-inf). A warp a row wants no barrier and no shared memory: what "
            "its lanes share is in registers."
        ),
        stretch=(
            "write softmax itself: one pass for the pair, one that stores exp(x - m) / d. Is a third load of x needed?"
        ),
    ),
    Exercise(
        key="lab05.fill",
        title="fill gaps with the last reading, in CUDA C",
        language="cuda",
        name="fill",
        cases=lambda: [cases.fill_case(*shape) for shape in ((1, 1), (2, 31), (3, 97), (4, 128), (5, 251), (6, 256))],
        measured=lambda: cases.fill_case(8, BLOCK, seed=8),
        drawn=cases.fills_drawn,
        sanitize=True,
        shared_out=True,
        also_wrong=ENDED,
        budgets=(
            COALESCED,
            Budget(
                "barriers per warp",
                per_warp("synchronisations"),
                2,
                "A scan of a warp by shuffles needs no barrier. One is enough to hand on what each warp found last.",
                "barriers",
            ),
            Budget(
                "shared requests per row",
                per_block("shared_requests"),
                80,
                "Eight warps leave one number each. Nothing else needs to be in shared memory.",
                "shared_load_requests",
            ),
        ),
        mistakes=scan_mistakes.FILL,
        hints=(
            "This is an inclusive scan. Its operator takes the right operand if that is a reading, else the left one.",
            "Within a warp: left = __shfl_up_sync(0xffffffff, v, d) for d = 1, 2, 4, 8, 16, and if lane >= d and v < "
            "0, v = left. Threads beyond n come along with -1.",
            "Lane 31 stores v to s[t / 32]; __syncthreads(); whoever still has v < 0 goes through the warps before "
            "its own, from the nearest one back, until a reading is found.",
        ),
        why=(
            "“The right one if it is a reading, else the left one” is associative, and that is all a scan asks; it "
            "does not commute, so the order of the operands has to be right at every level. Five shuffles settle a "
            "warp, eight numbers and one barrier the block, however long a gap is. A walk back is as quick where "
            "readings are dense and takes n steps where they are rare."
        ),
        stretch=(
            "__ballot_sync gives all readings of a warp as bits. Find the last one at or below your lane with __clz, "
            "and fetch it with one shuffle instead of five."
        ),
    ),
    Exercise(
        key="lab05.compact",
        title="keep what is positive, in order, in Numba",
        language="numba",
        name="compact",
        cases=lambda: [cases.compact_case(n) for n in (1, 31, 97, 256, 257, 1021)],
        measured=lambda: cases.compact_case(3001),
        shared_out=True,
        drawn=cases.compacts_drawn,
        sanitize=True,
        also_wrong=ENDED,
        budgets=(
            COALESCED,
            Budget(
                "bytes stored per byte needed",
                stored_for_needed,
                2.2,
                "Threads of a warp that keep something store to neighbouring places: one request, a few sectors.",
                "global_store_sectors",
            ),
            Budget(
                "barriers per round of 256",
                _barriers_a_round,
                4,
                "A warp finds its places without a barrier; warps need one or two to hand on how many each has kept.",
                "barriers",
            ),
            Budget(
                "atomics",
                total("global_update_requests", "shared_atomic_requests"),
                0,
                "An atomic hands out places in the order in which threads come, and nothing fixes that order.",
                "shared_atomic_requests",
            ),
            SHARED_OUT,
        ),
        mistakes=scan_mistakes.COMPACT,
        hints=(
            "In rounds of 256: each thread needs to know how many before it keep their element: in its warp, in the "
            "warps before, in the rounds before.",
            "cuda.ballot_sync(0xFFFFFFFF, keep) has a bit for each lane. cuda.popc counts bits; those of the lanes "
            "before yours are in bits & ((1 << lane) - 1).",
            "Each warp stores its count to s[t // 32]; barrier; a thread's place is carried + the counts of the warps "
            "before + the bits before; carried grows by all eight counts; barrier, and the next round.",
        ),
        why=(
            "A place is a sum of what lies before, so compaction is a scan of zeros and ones; one bit a lane makes it "
            "an instruction. The order is that of the array in every run, where an atomic would give the order of "
            "arrival. All threads stay in the loop until its last round, so that barriers and ballots are complete. "
            "Kept elements of a warp lie side by side, so their stores are nearly coalesced without more ado."
        ),
        stretch="let more than one block work: a first launch counts what each block keeps, a second one places it.",
    ),
)
