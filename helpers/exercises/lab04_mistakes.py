"""What is done wrong in lab 04, by its traces: for each exercise the mistakes in the order in which they are tried."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from helpers.exercises import Mistake
from helpers.exercises import lab04_cases as cases
from helpers.exercises import mistakes as known
from helpers.exercises.ch05 import DIVERGENT
from helpers.exercises.lab04_cases import BLOCK, BLOCKS
from helpers.vgpu.errors import OutOfBounds

LOADED = "bytes loaded per byte needed"
ATOMICS = "global atomics per block"
OFF_ONE_TICKET = "global atomics per block, more or fewer than one"
QUEUE = "shared atomic wavefronts per 32 bytes"
ROW_QUEUE = "shared atomic wavefronts per row"
BARRIERS = "barriers of a warp per row"


def _changed_without_atomic(evidence) -> bool:
    """Threads read and write one word of shared memory in one line or an `if` and the next one, or several write it."""
    return any(
        finding.space == "shared"
        and (finding.kind == "race_write_write" or (finding.kind == "race_read_write" and _one_step(finding)))
        for finding in evidence.findings
    )


def _one_step(finding) -> bool:
    lines = {finding.line: finding.source, finding.other_line or finding.line: finding.other_source or finding.source}
    return len(lines) == 1 or (
        max(lines) - min(lines) == 1 and re.match(r"\s*if\b.*[<>]", lines[min(lines)]) is not None
    )


def _never_written(evidence) -> bool:
    """Where it is wrong, not one element was written."""
    seen = [o for o in evidence.outcomes if not o.ok]
    return bool(seen) and all(o.untouched is not None and o.untouched.all() for o in seen)


def _another_value(evidence) -> bool:
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(o.got is not None and 0 <= o.got[0] < cases.BINS for o in seen)


def _row_left_out(evidence) -> bool:
    """Some elements of rows were written and others were not."""
    seen = [o for o in evidence.outcomes if not o.ok]
    return bool(seen) and all(o.untouched is not None and o.untouched.any() and not o.untouched.all() for o in seen)


def _begins_too_low(evidence) -> bool:
    """What was subtracted is less than the least wherever it is wrong, and always the same."""
    low = set()
    for outcome in evidence.outcomes:
        if outcome.got is None or outcome.untouched.any():
            return False
        x = outcome.case.arguments[0]
        taken, least = x - outcome.got, x.min(axis=1)
        if (taken != taken[:, :1]).any() or (taken[:, 0] > least).any():
            return False
        low |= set(taken[taken[:, 0] < least, 0].tolist())
    return len(low) == 1


def _past(array: str):
    """Some thread reached past the argument called `array`."""
    return lambda evidence: any(
        isinstance(o.error, OutOfBounds) and f"`{array}" in str(o.error).partition("\n")[0] for o in evidence.outcomes
    )


def _just_past_shared(evidence) -> bool:
    """Some thread reached past the shared array, by no more than a bin has room."""
    for outcome in evidence.outcomes:
        found = re.search(r"at byte (\d+) of the block's shared memory.* 0 to (\d+)", str(outcome.error or ""))
        if found and int(found[1]) <= int(found[2]) + 4 * cases.BYTES:
            return True
    return False


def _compared(sign: int):
    """Every count is right, or off in the same direction: -1 for too few, 1 for too many."""

    def when(evidence) -> bool:
        seen = evidence.outcomes
        return any(not o.ok for o in seen) and all(
            o.got is not None and (o.got >= 0).all() and (sign * (o.got - o.case.out.expected) >= 0).all() for o in seen
        )

    return when


def _other_bins(evidence) -> bool:
    """As many were counted as there are, in other bins."""
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(
        o.got is not None and o.got.sum() == o.case.out.expected.sum() for o in seen
    )


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
    _changed_without_atomic,
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
    _never_written,
    "out was not written at all. Each block draws one ticket, by one of its threads, also a block without elements. "
    "The block that draws ticket gridDim.x - 1 is the last one: atomics return the value from before.",
)
NOT_ONE_TICKET = Mistake(
    "not one ticket a block",
    known.over(OFF_ONE_TICKET),
    "Right, but each block has to draw one ticket by an atomic, and that is the only atomic on global memory. With "
    "more, add up in shared memory first, and wait for nobody in a loop. With none, either one block does the work of "
    "all, or a ticket by ++ may be drawn twice.",
)

LOWER = (
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
        _begins_too_low,
        "Where all elements are above what least[0] begins with, nothing is ever less than that. Begin with the "
        "greatest number there is, 2**31 - 1; one more is no int32 and becomes the smallest.",
    ),
    Mistake(
        "each thread takes its own least",
        known.gives(cases.each_its_own),
        "Each thread subtracts the least that it has seen itself. All of them have to subtract least[0].",
    ),
    Mistake(
        "some of a row is left out",
        _row_left_out,
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
        known.over(LOADED),
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
        _past("words"),
        "There are n words, from 0 to n - 1, and more threads than that in a launch: i < n, whatever i is.",
    ),
    Mistake(
        "too little room for the bins",
        _just_past_shared,
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
        lambda e: _changed_without_atomic(e) or known.found(*known.RACES, source="++")(e),
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
        _other_bins,
        "As many are counted as there are bytes, and some in bins of others: all eight bits of a byte, and only those, "
        "are its bin: word >> shift & 255.",
    ),
    Mistake(
        "counts are missing",
        _compared(-1),
        "No bin has too much, and some too little. Four bytes of each word, all n words; and in the end all 256 bins, "
        "with all copies of each.",
    ),
    Mistake(
        "counted more than once",
        _compared(1),
        "No bin has too little, and some too much. Shifts are 0, 8, 16 and 24; a thread goes on in steps of all "
        "threads of the launch, gridDim.x * blockDim.x; a copy is added once.",
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
        "Right, but nine in ten bytes are the same, and lanes of a warp queue for its bin. Give lanes of one warp "
        "several copies, in different banks: copies that are a multiple of 32 apart share one. Or add up equal values "
        "before asking.",
    ),
)

MODE = (
    *THE_LAST_BLOCK,
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
        "a bin is left out of the search",
        lambda e: any(known.gives(cases.mode_among(bins))(e) for bins in (slice(1, None), slice(None, -1))),
        "The first or the last bin never wins: there are 64, from 0 to 63, and range(64) goes over all of them.",
    ),
    Mistake(
        "another value than the most frequent one",
        _another_value,
        "That one is not the most frequent. Count all values, up to values.size; add up the counts of all blocks; and "
        "keep the bin of the greatest.",
    ),
    Mistake(
        "lanes that do not read neighbours",
        known.over(LOADED),
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
