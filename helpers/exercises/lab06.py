"""Lab 06, divergence: arithmetic for a branch, roles for whole warps, rare work collected, and loops of one length."""

from __future__ import annotations

from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Budget, Exercise, thread_1d
from helpers.checking.measures import idle_lanes, instructions_for_written, per_warp, stored_for_needed
from helpers.exercises import lab06_cases as cases
from helpers.exercises import lab06_mistakes as mistakes
from helpers.exercises.lab06_mistakes import DIVERGENT, IDLE, INSTRUCTIONS, STORED


def _idle(at_most: float) -> Budget:
    return Budget(
        IDLE,
        idle_lanes,
        at_most,
        "An instruction is issued for 32 lanes, however many of them stand at it.",
        "instructions",
    )


def _instructions(at_most: float, teach: str) -> Budget:
    return Budget(INSTRUCTIONS, instructions_for_written, at_most, teach, "instructions")


EXERCISES = (
    Exercise(
        key="lab06.bucketize",
        title="the bucket of each element, in CUDA C",
        language="cuda",
        name="bucketize",
        cases=lambda: [cases.buckets_case(*shape) for shape in ((1, 1), (31, 5), (97, 16), (128, 1), (257, 33))],
        measured=lambda: cases.buckets_case(2000, 32),
        drawn=cases.buckets_drawn,
        sanitize=True,
        shared_out=True,
        thread_of=thread_1d,
        budgets=(
            _idle(6),
            Budget(
                DIVERGENT,
                per_warp("divergent_branches"),
                4,
                "A branch diverges if lanes of one warp part at it.",
                "divergent_branches",
            ),
            _instructions(300, "A few instructions an edge are enough, for all 32 lanes together."),
        ),
        mistakes=mistakes.BUCKETIZE,
        hints=(
            "The bucket is a number: how many edges are at most x?",
            "In C a comparison is 0 or 1, so it can be added. The loop has m rounds for everybody.",
            "int k = 0; for (int j = 0; j < m; ++j) k += edges[j] <= x[i]; out[i] = k;",
        ),
        why=(
            "A count of comparisons has no branch: each is 0 or 1 in a register and is added. All lanes go through the "
            "same rounds, read the same edge in one sector, and none waits. The loop that stopped early was no shorter "
            "for its warp, since it ran until the last of 32 lanes was done. With thousands of edges a binary search "
            "is better, with the same number of halvings for every lane."
        ),
        stretch="halve instead: five rounds for 32 edges, with the same rounds for all lanes. From how many edges "
        "on is it shorter?",
    ),
    Exercise(
        key="lab06.roles",
        title="two results of each element, in Numba",
        language="numba",
        name="roles",
        cases=lambda: [cases.roles_case(n) for n in (1, 31, 32, 97, 128, 500)],
        measured=lambda: cases.roles_case(1600, cases.ROUNDS),
        drawn=cases.roles_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(
            _idle(3),
            _instructions(
                400, "The rounds of one role are enough for a thread; a warp of both roles runs the rounds of both."
            ),
            Budget(
                STORED,
                stored_for_needed,
                1.3,
                "The lanes of a warp should store to neighbours in one row of out.",
                "global_store_sectors",
            ),
        ),
        mistakes=mistakes.ROLES,
        hints=(
            "Which threads share a warp? Give those one role, and neighbouring elements.",
            "With t // 32 as the number of the warp: even warps one role, odd warps the other. Each pair of warps has "
            "32 elements.",
            "role = t // 32 % 2 and i = t // 64 * 32 + t % 32. Or, simpler: one thread computes both results of its "
            "element.",
        ),
        why=(
            "The branch is as it was; what changed is who meets in a warp. Mixed, a warp runs 3k + k rounds with half "
            "of its lanes; sorted out, one warp runs 3k and its neighbour k. A thread that does both roles for one "
            "element is as good: it has no branch at all, and half of the threads go home. Roles for whole warps pay "
            "when they need different data or registers, as where one warp loads and another computes."
        ),
        stretch="warps of the short role are done first. Give them more elements, so that all warps end together.",
    ),
    Exercise(
        key="lab06.refine",
        title="rare work, collected by the block, in CUDA C",
        language="cuda",
        name="refine",
        cases=lambda: [
            cases.refine_case(n, limit)
            for n, limit in ((1, -9), (97, 6.5), (128, 9), (1000, 0), (1024, -9), (2500, 6.5))
        ],
        measured=lambda: cases.refine_case(5000),
        shared_out=True,
        drawn=cases.refines_drawn,
        sanitize=True,
        also_wrong=("barrier_ended",),
        budgets=(
            _idle(14),
            _instructions(75, "A costly element in each warp makes every warp pay the full price. Collect them first."),
            SHARED_OUT,
        ),
        mistakes=mistakes.REFINE,
        hints=(
            "First pass: each thread looks at eight elements, 128 apart; cheap ones are stored, costly ones noted. "
            "Second pass: the notes are shared out.",
            "int at = atomicAdd(&count, 1); list[at] = i; gives every costly element a place. Their order does not "
            "matter.",
            "for (int k = threadIdx.x; k < count; k += blockDim.x) out[list[k]] = costly(x[list[k]]); between two "
            "barriers "
            "and the end.",
        ),
        why=(
            "One element in twelve is costly, so hardly any warp of 32 is without one, and each pays the full price. "
            "In the list costly elements stand side by side, and full warps work them off; what is wasted is at most "
            "one warp a block. The order of the list varies from run to run, and the result does not: each element "
            "goes to its own place. The price is a barrier or two, an atomic for each rare element, and stores that "
            "are no longer neighbours."
        ),
        stretch="let one lane ask for the places of its whole warp, by __ballot_sync and __popc, as chapter 08 does.",
    ),
    Exercise(
        key="lab06.repeat",
        title="each value as often as its row is long, in Numba",
        language="numba",
        name="repeat",
        cases=lambda: [cases.repeat_case(rows) for rows in (1, 2, 31, 97, 128, 300)],
        measured=lambda: cases.repeat_case(400, longest=120),
        drawn=cases.repeats_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(
            _idle(3),
            _instructions(400, "The row of a result is found in some ten halvings."),
            Budget(
                STORED,
                stored_for_needed,
                1.1,
                "Neighbouring lanes should store neighbouring results, whatever row they are of.",
                "global_store_sectors",
            ),
        ),
        mistakes=mistakes.REPEAT,
        hints=(
            "All results cost the same, unlike the rows. So what should a thread have?",
            "The thread of result k looks for its row: the last one with first[row] <= k. `first` is sorted.",
            "lo, hi = 0, value.size; while hi - lo > 1: mid = (lo + hi) // 2; lo = mid if first[mid] <= k else lo, "
            "and so "
            "for hi; then out[k] = value[lo].",
        ),
        why=(
            "Rows are of any length, results are all alike, so a thread a result is balanced from the start. What it "
            "costs is the question which row a result belongs to, and a sorted list answers that in log2(rows) "
            "halvings, the same number for all lanes or one less. That is more instructions in all than a thread a row "
            "takes. It buys stores that are coalesced, an eighth of the sectors, and no warp that runs on alone when "
            "all others are done. The trick is known as load-balancing search, and works for whatever has pieces of "
            "uneven size: sparse matrices, graphs, batches of sentences."
        ),
        stretch="each thread takes four results in a row, searches once, and walks on. When does that divert lanes "
        "again?",
    ),
)
