"""What is done wrong in lab 04, by its traces: for each exercise the mistakes in the order in which they are tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake
from helpers.exercises import lab04_cases as cases
from helpers.exercises import lab04_traces as traces
from helpers.exercises.ch05_cases import DIVERGENT
from helpers.exercises.lab04_cases import BLOCK, BLOCKS

LOADED = "bytes loaded per byte needed"
ATOMICS = "global atomics per block"
OFF_ONE_TICKET = "global atomics per block, more or fewer than one"
QUEUE = "shared atomic wavefronts per 32 bytes"
ROW_QUEUE = "shared atomic wavefronts per row"
BARRIERS = "barriers of a warp per row"


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
WITHOUT_ATOMIC = Mistake(
    "changed without an atomic",
    traces.changed_without_atomic,
    "Reading a word, changing it and writing it back are three steps: of two threads that do so at once, one change is "
    "lost. An atomic does them in one piece. A barrier would not help.",
)
NO_FENCE = Mistake(
    "nothing orders the blocks",
    known.found(*known.RACES, space="global"),
    "A block reads what other blocks have written, and nothing orders the two: a barrier ends at the block's border, "
    "and a ticket alone orders nothing but tickets. A fence before the ticket is drawn: whoever sees the ticket sees "
    "what came before. A fence after it, before what others left is read. And only who has drawn the last ticket may "
    "read.",
)
LOST_TICKETS = Mistake(
    "a ticket that is not drawn by an atomic",
    known.found(*known.RACES, space="global", source="tickets"),
    "Two blocks may read the same number and both add 1: then nobody is last, or two are. An atomic reads and adds in "
    "one piece, and returns what was there before.",
)
NOBODY_LAST = Mistake(
    "nobody is last",
    traces.never_written,
    "out was not written at all. Each block draws one ticket, by one of its threads, also a block without elements. "
    "The block that draws ticket gridDim.x - 1 is the last one: atomics return the value from before.",
)


def _loaded_again(evidence) -> bool:
    """Too much is loaded, and not by asking for the ticket again and again."""
    tickets = next((spent.value for spent in evidence.budgets if spent.label == OFF_ONE_TICKET), 0)
    return known.over(LOADED)(evidence) and tickets <= 1


NOT_ONE_TICKET = Mistake(
    "not one ticket a block",
    known.over(OFF_ONE_TICKET),
    "Right, but each block has to draw one ticket by an atomic, and that is the only atomic on global memory. With "
    "more, add up in shared memory first, and wait for nobody in a loop. With none, either one block does the work of "
    "all, or a ticket by ++ may be drawn twice.",
)

LOWER = (
    Mistake(
        "an index beyond its row or column",
        known.out_of_bounds,
        "x and out are (rows, elements): x[row, i], the row first, with row < x.shape[0] and i < x.shape[1].",
    ),
    DIVERGENT,
    UNWRITTEN,
    replace(
        WITHOUT_ATOMIC,
        name="compared without an atomic",
    ),
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
        "the search begins too low",
        traces.begins_too_low,
        "Where all elements are above what least[0] begins with, nothing is ever less than that. Begin with the "
        "greatest number there is, 2**31 - 1; one more is no int32 and becomes the smallest.",
    ),
    Mistake(
        "each thread takes its own least",
        known.gives(cases.each_its_own),
        "Each thread subtracts the least that it has seen itself. All of them have to subtract least[0].",
    ),
    Mistake(
        "the greatest, not the least",
        traces.lowered_by(lambda x: x.max(axis=1, keepdims=True)),
        "The greatest of each row was subtracted. It is the least that becomes 0.",
    ),
    Mistake(
        "the sign is the other one",
        known.gives(lambda case: -case.out.expected),
        "That is the least minus the element. It is x[row, i] - least[0].",
    ),
    Mistake(
        "added, not subtracted",
        traces.lowered_by(lambda x: -x.min(axis=1, keepdims=True)),
        "The least was added. It is x[row, i] - least[0], so that the least itself becomes 0.",
    ),
    Mistake(
        "one thread's least for all",
        traces.lowered_by(lambda x: x[:, ::BLOCK].min(axis=1, keepdims=True)),
        "least[0] is the least of what thread 0 has seen. Each of the 128 threads has seen a part of the row, and has "
        "to compare with least[0], by an atomic.",
    ),
    Mistake(
        "the sum, not the least",
        traces.lowered_by(lambda x: x.sum(axis=1, keepdims=True)),
        "The sum of each row was subtracted: an atomic of another kind. It is cuda.atomic.min.",
    ),
    Mistake(
        "rows are left out",
        traces.whole_rows_left_out,
        "Whole rows are not written. A block has rows blockIdx.x, blockIdx.x + gridDim.x, and so on, up to x.shape[0].",
    ),
    Mistake(
        "some of a row is left out",
        traces.row_left_out,
        "A block does its rows alone and to their end, which may be further than 128: thread t takes elements t, t + "
        "blockDim.x, … as long as they are less than x.shape[1].",
    ),
    Mistake(
        "every block does all rows",
        lambda e: known.over(LOADED)(e) and known.over(BARRIERS)(e),
        "Right, but rows are done more than once: a block begins with row blockIdx.x, and goes on in steps of "
        "gridDim.x.",
    ),
    Mistake(
        "lanes that do not read neighbours",
        known.over(LOADED),
        "Right, but a sector of 32 bytes is loaded for each element: let thread t take elements t, t + 128, …",
    ),
    Mistake(
        "every element asks shared memory",
        known.over(ROW_QUEUE),
        "Right, and all elements of the row queue for one word. Compare in a register first; then one atomic a thread.",
    ),
    Mistake(
        "more barriers than it takes",
        known.over(BARRIERS),
        "Right, with more barriers than it takes. For each, name the write and the read that it keeps apart. A tree "
        "in shared memory needs one for each of its steps: one atomic a thread, or shuffles within a warp, need none.",
    ),
)

THE_LAST_BLOCK = (
    NOBODY_LAST,
    LOST_TICKETS,
    DIVERGENT,
    UNWRITTEN,
    Mistake(
        "a ticket for each thread",
        traces.several_draw,
        "Several threads of a block draw a ticket, and overwrite one another's answer in shared memory. A block has "
        "one ticket: one thread draws it, leaves there whether it was the last, and all others read that after a "
        "barrier.",
    ),
    WITHOUT_ATOMIC,
    NO_BARRIER,
    NO_FENCE,
)
"""Of exercises in which the block that is done last has work of its own."""

SHARES = (
    *THE_LAST_BLOCK,
    Mistake(
        "a share of whole numbers",
        known.gives(lambda case: np.floor(case.out.expected)),
        "The quotient of two integers is an integer, here 0: turn one into a float first.",
    ),
    Mistake(
        "another quotient",
        cases.other_quotient,
        "A share is the block's part by the total of all parts, parts[b] / total: a fraction, and all of them add up "
        "to 1. The total goes over all blocks.",
    ),
    Mistake(
        "the sum of one thread",
        known.gives(cases.parts_of_thread_0),
        "The part of a block is what its thread 0 has added up alone. All 128 threads have added up something: bring "
        "their sums together in shared memory first.",
    ),
    Mistake(
        "elements of other blocks",
        lambda e: known.gives(cases.block_by_block)(e) or known.gives(cases.steps_of_a_block)(e),
        "A grid-stride loop was asked for: a block begins at element blockIdx.x * blockDim.x + threadIdx.x, and goes "
        "on in steps of gridDim.x * blockDim.x. So element i belongs to block i / 128 % gridDim.x.",
    ),
    Mistake(
        "only some shares are written",
        known.partly_written,
        "The last block writes the shares of all blocks, and not only its own. All of its threads have to know that it "
        "is the last: what one of them has learnt from the ticket goes through shared memory.",
    ),
    Mistake(
        "every block adds up everything",
        _loaded_again,
        "Right, but elements are loaded by more than one block, or a sector for each. Leave sums in `parts`, "
        "and read those.",
    ),
    NOT_ONE_TICKET,
)

COUNT_BYTES = (
    Mistake(
        "nothing is counted yet",
        known.gives(lambda case: np.zeros(256)),
        "Every bin still holds 0.",
    ),
    Mistake(
        "a thread reads past the words",
        traces.past("words"),
        "There are n words, from 0 to n - 1, and more threads than that in a launch: i < n, whatever i is.",
    ),
    Mistake(
        "too little room for the bins",
        traces.just_past_shared,
        "The shared array is smaller than what is set or counted in it. Multiply: copies times their distance, which "
        "is more than 256 where they are moved on by a bank.",
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
        lambda e: traces.changed_without_atomic(e) or known.found(*known.RACES, source="++")(e),
        "x++ reads, adds and writes. Two threads with the same byte lose one of two counts.",
    ),
    NO_BARRIER,
    Mistake(
        "the last block wins",
        known.found(*known.RACES, space="global"),
        "Every block has bins of its own, and counts is for all blocks, and 0 before. Who stores there overwrites what "
        "others have added: add, atomically.",
    ),
    Mistake(
        "one byte of four",
        lambda e: any(
            known.gives(lambda case, k=k: cases.counted(case.arguments[0].view(np.uint8)[k::4]))(e) for k in (0, 3)
        ),
        "A word holds four bytes, at bits 0, 8, 16 and 24.",
    ),
    Mistake(
        "one word a thread",
        known.gives(lambda case: cases.counted(case.arguments[0][: BLOCK * BLOCKS].view(np.uint8))),
        "512 threads looked at 512 words and stopped. Step on by gridDim.x * blockDim.x until n.",
    ),
    Mistake(
        "in other bins",
        traces.other_bins,
        "As many are counted as there are bytes, and some in bins of others: all eight bits of a byte, and only those, "
        "are its bin: word >> shift & 255.",
    ),
    Mistake(
        "counts are missing",
        traces.compared(-1),
        "No bin has too much, and some too little. Four bytes of each word, all n words; and in the end all 256 bins "
        "of all blocks, with all copies of each, in numbers wide enough for a count.",
    ),
    Mistake(
        "counted more than once",
        traces.compared(1),
        "No bin has too little, and some too much. Shifts are 0, 8, 16 and 24; a thread goes on in steps of all "
        "threads of the launch, gridDim.x * blockDim.x; a copy is added once.",
    ),
    Mistake(
        "atomics on global memory",
        known.over(ATOMICS),
        "Right, with more requests to global memory than a block has bins to add. Count in shared memory first, add up "
        "the copies of a bin before you go there, and let 32 lanes add 32 bins in one request, not one thread all.",
    ),
    Mistake(
        "lanes that do not read neighbours",
        known.over(LOADED),
        "Right, but a sector of 32 bytes is loaded for each word, or a word for each of its bytes.",
    ),
    Mistake(
        "a queue at the hot bin",
        known.over(QUEUE),
        "Right, but nine in ten bytes are the same, and lanes of a warp queue for its bin. Give lanes of one warp "
        "several copies, in different banks: copies that are a multiple of 32 apart share one. Or add up equal values "
        "before asking.",
    ),
)

MODE = (
    *THE_LAST_BLOCK,
    Mistake(
        "the last of equals",
        traces.one_of_equals,
        "Of values that occur equally often the smallest is asked for. Go through the bins from 0 on, and take one "
        "only if it has more.",
    ),
    Mistake(
        "how often, not what",
        known.gives(lambda case: [cases.often(case.arguments[0]).max()]),
        "That is the count. Its bin is asked for: keep the two together while you compare.",
    ),
    Mistake(
        "the last block counts twice",
        known.gives(cases.last_block_twice),
        "The block that is done last adds all parts to what it has counted itself, which is among them already. Begin "
        "these sums at 0.",
    ),
    Mistake(
        "one value a thread",
        known.gives(lambda case: [cases.often(case.arguments[0][: BLOCK * BLOCKS]).argmax()]),
        "512 threads looked at 512 values and stopped. Step on by cuda.gridsize(1).",
    ),
    Mistake(
        "a bin is left out of the search",
        lambda e: any(known.gives(cases.mode_among(bins))(e) for bins in (slice(1, None), slice(None, -1))),
        "The first or the last bin never wins: there are 64, from 0 to 63, and range(64) goes over all of them.",
    ),
    Mistake(
        "another value than the most frequent one",
        traces.another_value,
        "That one is not the most frequent. Count all values, up to values.size; add up the counts of all blocks; and "
        "keep the bin of the greatest.",
    ),
    Mistake(
        "lanes that do not read neighbours",
        _loaded_again,
        "Right, but values are loaded again, or a sector of 32 bytes for each value, or for each count in parts: let "
        "lanes read neighbours there, too, and not one thread all.",
    ),
    NOT_ONE_TICKET,
    Mistake(
        "barriers in the loop",
        known.over("barriers per warp"),
        "Right, with a barrier for every round of the loop. Atomics on shared memory need none between them.",
    ),
)
