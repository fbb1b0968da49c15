"""Lab 04, histograms and races: find what nothing orders, mend it with as little as it takes, count in private."""

from __future__ import annotations

from helpers.checking.exercise import Budget, Exercise
from helpers.checking.measures import loaded_for_needed, per_block, per_warp
from helpers.exercises import lab04_cases as cases
from helpers.exercises import lab04_mistakes as mistakes
from helpers.exercises.lab04_cases import BLOCK, ROWS_A_BLOCK
from helpers.exercises.lab04_mistakes import ATOMICS, BARRIERS, LOADED, OFF_ONE_TICKET, QUEUE, ROW_QUEUE


def _loads(at_most: float, teach: str) -> Budget:
    return Budget(LOADED, loaded_for_needed, at_most, teach)


def _one_ticket(teach: str) -> Budget:
    """Too many atomics, or none, as when one block does the work of all or a ticket is drawn by ++."""
    return Budget(
        OFF_ONE_TICKET,
        lambda profile: abs(per_block("global_update_requests")(profile) - 1),
        0,
        teach,
        "global_atomic_requests",
    )


def _wavefronts_for_32_bytes(profile) -> float:
    return 32 * profile["shared_atomic_wavefronts"] / profile.counters.footprint.read_bytes


EXERCISES = (
    Exercise(
        key="lab04.lower",
        title="each row above its least, in Numba",
        language="numba",
        name="lower",
        cases=lambda: [
            cases.lower_case(*size) for size in ((1, 1, 1), (3, 31, 1), (5, 97, 2), (7, 128, 3), (4, 501, 2))
        ],
        measured=lambda: cases.lower_case(ROWS_A_BLOCK * 2, 640, 2),
        shared_out=True,
        drawn=cases.lowers_drawn,
        sanitize=True,
        budgets=(
            Budget(
                BARRIERS,
                lambda profile: per_warp("synchronisations")(profile) / ROWS_A_BLOCK,
                3,
                "Set, compare, read, and on to the next row: three places where all must have arrived.",
                "barriers",
            ),
            Budget(
                ROW_QUEUE,
                lambda profile: per_block("shared_atomic_wavefronts", "global_update_requests")(profile) / ROWS_A_BLOCK,
                BLOCK,
                "All want the same word, so they queue. Let each thread find its own least first, and ask once.",
                "shared_atomic_wavefronts",
            ),
            _loads(
                2.1,
                "Every element is needed twice, once to compare and once to subtract, by lanes that read neighbours.",
            ),
        ),
        mistakes=mistakes.LOWER,
        hints=(
            "Follow least[0] through two rows of one block: who writes it, who reads it, and what stands between?",
            "It is set by thread 0, changed by all, read by all, and set again. Between each two of these, all must "
            "meet.",
            "In the loop over rows: thread 0 sets; barrier; each thread compares its elements in a register, then one "
            "cuda.atomic.min; barrier; subtract; barrier.",
        ),
        why=(
            "A loop turns the end of a round into the neighbour of its beginning: what is read last and what is "
            "written first meet there, and no line of the source shows it. Whether a result suffers depends on how "
            "far one warp is ahead of another. One barrier for each change of roles is enough, and each can be named "
            "by the pair that it keeps apart. Comparing in registers first leaves one atomic a thread."
        ),
        stretch="one barrier less: use least[0] and least[1] in turn. Why are two enough, and what must be set when?",
    ),
    Exercise(
        key="lab04.shares",
        title="each block's share of the whole, in CUDA C",
        language="cuda",
        name="shares",
        cases=lambda: [cases.shares_case(*size) for size in ((1, 1), (97, 1), (97, 3), (200, 2), (1000, 3), (1021, 5))],
        measured=lambda: cases.shares_case(8000, 6),
        drawn=cases.shares_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(
            _one_ticket("One ticket a block is all that has to be drawn."),
            _loads(
                1.2, "Each block loads its own elements; the last one loads the other blocks' sums, and no elements."
            ),
        ),
        mistakes=mistakes.SHARES,
        hints=(
            "The ticket says who is last. Does it also say that what the others have written can be seen?",
            "A fence (__threadfence) before the ticket, by the thread that has written the part; another one after "
            "it, before parts of other blocks are read.",
            "Thread 0: parts[blockIdx.x] = sum; __threadfence(); last = atomicAdd(tickets, 1) == gridDim.x - 1; "
            "__threadfence(); then __syncthreads(), and if (last) all threads read parts.",
        ),
        why=(
            "An atomic makes one word safe, and says nothing of any other. The fence before it makes what was written "
            "earlier visible first; the fence after it keeps later loads from being early (the sanitizer takes that "
            "one for granted, CUDA's memory model does not). Between two blocks the ticket carries the order; within "
            "the block a barrier hands it on to threads that have drawn no ticket. So a second launch is saved, and "
            "no block ever waits for another, which might not have begun."
        ),
        stretch=(
            "let the last block put the ticket back to 0, so that the next launch needs no fresh array. Is a fence "
            "missing?"
        ),
    ),
    Exercise(
        key="lab04.count_bytes",
        title="how often each byte occurs, in CUDA C",
        language="cuda",
        name="count_bytes",
        cases=lambda: (
            [cases.bytes_case(n) for n in (1, 31, 97, 512)]
            + [cases.bytes_case(1021, hot=0.5), cases.bytes_case(600, hot=1.0)]
        ),
        measured=lambda: cases.bytes_case(2500, hot=0.9),
        drawn=cases.bytes_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(
            Budget(
                ATOMICS,
                per_block("global_update_requests"),
                8,
                "256 bins are eight requests of a warp. Count in shared memory, and add a block's bins once.",
                "global_atomic_requests",
            ),
            Budget(
                QUEUE,
                _wavefronts_for_32_bytes,
                10,
                "Lanes that want the same word follow one another. Spread a bin over several words, or let lanes with "
                "the same value speak with one voice.",
                "shared_atomic_wavefronts",
            ),
            _loads(1.1, "A word brings four bytes: load it once, by lanes that read neighbours."),
        ),
        mistakes=mistakes.COUNT_BYTES,
        hints=(
            "Private bins of the block first. Then look at a warp: 29 of 32 lanes want the same bin. How could they "
            "want different words?",
            "Four or eight copies of the bins; lane t uses copy t % 4. Or __match_any_sync: lanes with the same byte "
            "find one another, and the first adds their number.",
            "__shared__ int mine[4 * 257]; for k = 0, 8, 16, 24: atomicAdd(&mine[t % 4 * 257 + (word >> k & 255)], "
            "1). At the end add the four copies of a bin, and only then to counts.",
        ),
        why=(
            "Privatisation works on two levels: bins of a block keep blocks apart, copies of bins keep lanes apart. "
            "Rows of 257 put the copies of one bin into different banks. Evenly spread data never show the queue, and "
            "pictures are not evenly spread: the sky is one colour. More copies cost shared memory and a longer sum "
            "at the end, so take as many as the data ask for."
        ),
        stretch=(
            "compare four equal bytes of a word first: one atomic adds 4. What does that do to even data, and to hot "
            "ones?"
        ),
    ),
    Exercise(
        key="lab04.mode",
        title="the most frequent value in one launch, in Numba",
        language="numba",
        name="mode",
        cases=lambda: (
            [cases.mode_case(n) for n in (1, 31, 97, 600, 849)]
            + [cases.mode_case(1021, hot=0.4, best=cases.BINS - 1), cases.mode_case(700, hot=0.4, best=0)]
        ),
        measured=lambda: cases.mode_case(5000, hot=0.6, best=11),
        shared_out=True,
        drawn=cases.modes_drawn,
        sanitize=True,
        budgets=(
            _one_ticket(
                "A block leaves its 64 counts in its row of `parts`, with plain stores. Only the ticket is an atomic.",
            ),
            _loads(1.2, "Every value is loaded once, by lanes that read neighbours, and so are the counts in `parts`."),
            Budget(
                "barriers per warp",
                per_warp("synchronisations"),
                8,
                "Set, count, add, ticket, and what the last block needs: a handful, whatever the number of values.",
                "barriers",
            ),
        ),
        mistakes=mistakes.MODE,
        hints=(
            "Exercises 2 and 3 in one: private bins, left in parts; then a ticket; then the last block adds up parts "
            "and looks for the greatest.",
            "Whoever stores to parts puts a fence behind it; then a barrier; then thread 0 draws the ticket, puts a "
            "fence behind it and tells the block.",
            "cuda.threadfence() in Numba; last[0] = cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1. In the last "
            "block thread t < 64 adds up column t of parts; barrier; thread 0 goes through 64 sums and takes a bin "
            "only if it has more.",
        ),
        why=(
            "This is how one launch does two phases: all blocks count, and the last one looks at all. What orders "
            "them is the chain store – fence – barrier – ticket – fence – barrier – load. Leave out a link, and some "
            "store and some load have nothing between them. The result would still be right here, in every run, which "
            "is why the sanitizer is asked and not the result. A row of its own spares a block atomics on counts that "
            "all share."
        ),
        stretch=(
            "let the 64 sums be compared by two warps with shuffles, or by one atomic.max on count * 64 + 63 - bin."
        ),
    ),
)
