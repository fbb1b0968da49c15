"""Lab 04, histograms and races: find what nothing orders, mend it with as little as it takes, count in private."""

from __future__ import annotations

import numpy as np

from helpers.exercises import Budget, Exercise, Mistake
from helpers.exercises import lab04_cases as cases
from helpers.exercises import mistakes as known
from helpers.exercises.ch05 import DIVERGENT
from helpers.exercises.lab04_cases import BLOCK, BLOCKS, ROWS_A_BLOCK
from helpers.exercises.measures import loaded_for_needed, per_block, per_warp

LOADED = "bytes loaded per byte needed"
ATOMICS = "global atomics per block"
QUEUE = "shared atomic wavefronts per 32 bytes"


def _loads(at_most: float, teach: str) -> Budget:
    return Budget(LOADED, loaded_for_needed, at_most, teach)


def _global_atomics(at_most: float, teach: str) -> Budget:
    return Budget(ATOMICS, per_block("global_atomic_requests"), at_most, teach, "global_atomic_requests")


def _wavefronts_for_32_bytes(profile) -> float:
    return 32 * profile["shared_atomic_wavefronts"] / profile.counters.footprint.read_bytes


def _partly_written(evidence) -> bool:
    return known.untouched_somewhere(evidence) and not known.nothing_written(evidence)


UNWRITTEN = Mistake(
    "shared memory that nobody has written",
    known.found("uninitialised", space="shared"),
    "Shared memory holds whatever lay there. Let threads set it, then a barrier, then use it.",
)
NO_BARRIER = Mistake(
    "a barrier is missing",
    known.found(*known.RACES, space="shared"),
    "A thread of the block uses shared memory that another one writes, and nothing orders the two: setting, changing "
    "and reading are three steps, and all threads meet between them.",
)
NO_FENCE = Mistake(
    "nothing orders the blocks",
    known.found(*known.RACES, space="global"),
    "A block reads what other blocks have written, and nothing orders the two: a barrier ends at the block's border, "
    "and a ticket alone orders nothing but tickets. A fence before the ticket is drawn: whoever sees the ticket sees "
    "what came before. A fence after it, before what others left is read.",
)
LOST_TICKETS = Mistake(
    "a ticket that is not drawn by an atomic",
    known.found(*known.RACES, space="global", source="tickets"),
    "Two blocks may read the same number and both add 1: then nobody is last, or two are. An atomic reads and adds in "
    "one piece, and returns what was there before.",
)
NOBODY_LAST = Mistake(
    "nobody is last",
    known.nothing_written,
    "out was never written. The block that draws ticket gridDim.x - 1 is the last one: atomics return the value from "
    "before.",
)

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
        drawn=cases.lowers_drawn,
        sanitize=True,
        budgets=(
            Budget(
                "barriers of a warp per row",
                lambda profile: per_warp("barriers")(profile) / ROWS_A_BLOCK,
                3,
                "Set, compare, read, and on to the next row: three places where all must have arrived.",
                "barriers",
            ),
            Budget(
                "shared atomic wavefronts per row",
                lambda profile: per_block("shared_atomic_wavefronts")(profile) / ROWS_A_BLOCK,
                BLOCK,
                "All want the same word, so they queue. Let each thread find its own least first, and ask once.",
                "shared_atomic_wavefronts",
            ),
            _loads(
                2.1,
                "Every element is needed twice, once to compare and once to subtract, by lanes that read neighbours.",
            ),
        ),
        mistakes=(
            DIVERGENT,
            UNWRITTEN,
            Mistake(
                "the next row begins too soon",
                known.found("race_read_write", space="shared"),
                "A fast warp begins the next row and sets least[0] anew, while a slow one still reads the old value. "
                "One more meeting, between reading and setting again.",
            ),
            NO_BARRIER,
            Mistake(
                "the least is never set again",
                known.gives(cases.never_set_again),
                "A block's second row is compared with the least of its first one. Set it again for each row.",
            ),
            Mistake(
                "zero is taken for the greatest",
                known.gives(cases.from_zero),
                "With all elements above zero the least is above zero, too. Begin with the greatest number there is.",
            ),
            Mistake(
                "lanes that do not read neighbours",
                known.over(LOADED),
                "Right, but a sector of 32 bytes is loaded for each element: let thread t take elements t, t + 128, …",
            ),
            Mistake(
                "every element asks shared memory",
                known.over("shared atomic wavefronts per row"),
                "Right, and all elements of the row queue for one word. Compare in a register first; then one atomic "
                "a thread.",
            ),
            Mistake(
                "more barriers than it takes",
                known.over("barriers of a warp per row"),
                "Right, with barriers that order nothing. For each, name the write and the read that it keeps apart.",
            ),
        ),
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
        cases=lambda: [cases.shares_case(*size) for size in ((1, 1), (97, 1), (200, 2), (1000, 3), (1021, 5))],
        measured=lambda: cases.shares_case(8000, 6),
        drawn=cases.shares_drawn,
        sanitize=True,
        budgets=(
            _global_atomics(1, "One ticket a block is all that has to be drawn."),
            _loads(
                1.2, "Each block loads its own elements; the last one loads the other blocks' sums, and no elements."
            ),
        ),
        mistakes=(
            NOBODY_LAST,
            LOST_TICKETS,
            DIVERGENT,
            UNWRITTEN,
            NO_BARRIER,
            NO_FENCE,
            Mistake(
                "a share of whole numbers",
                known.gives(lambda case: np.floor(case.out.expected)),
                "The quotient of two integers is an integer, here 0: turn one into a float first.",
            ),
            Mistake(
                "only some shares are written",
                _partly_written,
                "The last block writes the shares of all blocks, and not only its own.",
            ),
            Mistake(
                "an atomic for every warp or thread",
                known.over(ATOMICS),
                "Right, with more atomics on global memory than tickets. Add up in shared memory first.",
            ),
            Mistake(
                "every block adds up everything",
                known.over(LOADED),
                "Right, but elements are loaded by more than one block, or a sector for each. Leave sums in `parts`, "
                "and read those.",
            ),
        ),
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
        budgets=(
            _global_atomics(
                8, "256 bins are eight requests of a warp. Count in shared memory, and add a block's bins once."
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
        mistakes=(
            Mistake(
                "nothing is counted yet",
                known.gives(lambda case: np.zeros(256)),
                "Every bin still holds 0.",
            ),
            Mistake(
                "bytes taken for signed ones",
                known.out_of_bounds,
                "A bin outside of the 256: bytes above 127 are negative as `char`, and a shifted word still has its "
                "upper bytes. Take & 255 of an unsigned number.",
            ),
            DIVERGENT,
            UNWRITTEN,
            Mistake(
                "counted without an atomic",
                known.found(*known.RACES, source="++"),
                "x++ reads, adds and writes. Two threads with the same byte lose one of two counts.",
            ),
            NO_BARRIER,
            Mistake(
                "the last block wins",
                known.found(*known.RACES, space="global"),
                "Every block has bins of its own. Storing them overwrites what others have stored: add them, "
                "atomically.",
            ),
            Mistake(
                "one byte of four",
                lambda e: any(
                    known.gives(lambda case, k=k: cases.counted(case.arguments[0].view(np.uint8)[k::4]))(e)
                    for k in (0, 3)
                ),
                "A word holds four bytes, at bits 0, 8, 16 and 24.",
            ),
            Mistake(
                "one word a thread",
                known.gives(lambda case: cases.counted(case.arguments[0][: BLOCK * BLOCKS].view(np.uint8))),
                "512 threads looked at 512 words and stopped. Step on by gridDim.x * blockDim.x until n.",
            ),
            Mistake(
                "atomics on global memory",
                known.over(ATOMICS),
                "Right, with more requests to global memory than a block has bins to add. Count in shared memory "
                "first, and add up the copies of a bin before you go there.",
            ),
            Mistake(
                "lanes that do not read neighbours",
                known.over(LOADED),
                "Right, but a sector of 32 bytes is loaded for each word, or a word for each of its bytes.",
            ),
            Mistake(
                "a queue at the hot bin",
                known.over(QUEUE),
                "Right, but nine in ten lanes want the same word, and follow one another. Give lanes several copies "
                "of the bins, or add up equal values before asking.",
            ),
        ),
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
        cases=lambda: [cases.mode_case(n) for n in (1, 31, 97, 600)] + [cases.mode_case(1021, hot=0.4)],
        measured=lambda: cases.mode_case(5000, hot=0.6),
        drawn=cases.modes_drawn,
        sanitize=True,
        budgets=(
            _global_atomics(
                1,
                "A block leaves its 64 counts in its row of `parts`, with plain stores. Only the ticket is an atomic.",
            ),
            _loads(1.2, "Every value is loaded once, by lanes that read neighbours, and so are the counts in `parts`."),
            Budget(
                "barriers per warp",
                per_warp("barriers"),
                8,
                "Set, count, add, ticket, and what the last block needs: a handful, whatever the number of values.",
                "barriers",
            ),
        ),
        mistakes=(
            NOBODY_LAST,
            LOST_TICKETS,
            DIVERGENT,
            UNWRITTEN,
            NO_BARRIER,
            NO_FENCE,
            Mistake(
                "the last of equals",
                known.gives(lambda case: [cases.BINS - 1 - cases.often(case.arguments[0])[::-1].argmax()]),
                "Of two values that occur equally often the smaller one is asked for.",
            ),
            Mistake(
                "how often, not what",
                known.gives(lambda case: [cases.often(case.arguments[0]).max()]),
                "That is the count. Its bin is asked for: keep the two together while you compare.",
            ),
            Mistake(
                "one value a thread",
                known.gives(lambda case: [cases.often(case.arguments[0][: BLOCK * BLOCKS]).argmax()]),
                "512 threads looked at 512 values and stopped. Step on by cuda.gridsize(1).",
            ),
            Mistake(
                "atomics on global memory",
                known.over(ATOMICS),
                "Right, with atomics on global memory beside the ticket. Count in shared memory; a block has a row of "
                "parts for itself.",
            ),
            Mistake(
                "lanes that do not read neighbours",
                known.over(LOADED),
                "Right, but a sector of 32 bytes is loaded for each value, or values are loaded again.",
            ),
            Mistake(
                "barriers in the loop",
                known.over("barriers per warp"),
                "Right, with a barrier for every round of the loop. Atomics on shared memory need none between them.",
            ),
        ),
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
