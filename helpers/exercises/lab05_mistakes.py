"""What is done wrong in lab 05, by its traces: for each exercise the mistakes in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from helpers.exercises import Mistake
from helpers.exercises import lab05_cases as cases
from helpers.exercises import mistakes as known
from helpers.exercises.budgets import SHARED_OUT
from helpers.exercises.lab05_cases import BLOCK, WARP
from helpers.vgpu.errors import OutOfBounds

LOADED = "bytes loaded per byte needed"
MASK = Mistake(
    "a shuffle that not all lanes reach",
    known.found("mask_absent", "mask_self", "mask_ended"),
    "The mask 0xffffffff names 32 lanes, and all 32 must come to the shuffle or ballot. Put no `if` around it, and end "
    "none before it: let lanes without an element bring a value that changes nothing.",
)
GONE = Mistake(
    "threads that never come to the barrier",
    known.found("barrier_ended", *known.BARRIERS),
    "Some threads go past the barrier, or have ended, while others wait at it. CUDA promises nothing then: all threads "
    "of the block come to it. Guard the work, not the barrier.",
)
SHORT = Mistake(
    "the shared array is too short",
    lambda e: known.past_shared(e) or known.found("overrun")(e),
    "Somebody writes or reads past the shared array: a place for each warp, and a block here has eight.",
)
UNWRITTEN = Mistake(
    "shared memory that nobody has written",
    known.found("uninitialised", space="shared"),
    "Somebody reads an element of shared memory that no thread has written. How many warps are there, and how many "
    "elements do you read?",
)
NO_BARRIER = Mistake(
    "a barrier is missing",
    known.found(*known.RACES, space="shared"),
    "One warp reads what another writes, or writes over what another has yet to read: between the two the whole block "
    "must meet.",
)


def _not_a_number(outcome) -> bool:
    return isinstance(outcome.got, np.ndarray) and bool((np.isnan(outcome.got) & ~outcome.untouched).any())


def _infinite(outcome) -> bool:
    return isinstance(outcome.got, np.ndarray) and bool(np.isinf(outcome.got).any())


def _odd_blocks_only(evidence) -> bool:
    """Blocks of 2ⁿ threads are right, others are wrong."""
    wrong = [outcome.case.block[0] for outcome in evidence.outcomes if not outcome.ok]
    right = [outcome.case.block[0] for outcome in evidence.outcomes if outcome.ok]
    return bool(wrong) and all(n & (n - 1) for n in wrong) and not any(n & (n - 1) for n in right)


def _loads(more_than: float):
    return lambda e: any(each.label == LOADED and each.value > max(more_than, each.at_most) for each in e.budgets)


TOTAL = (
    Mistake(
        "nothing is added yet",
        known.gives(lambda case: np.zeros(1)),
        "out[0] still holds the 0 that it began with.",
    ),
    MASK,
    UNWRITTEN,
    NO_BARRIER,
    GONE,
    Mistake(
        "room for a few warps only",
        lambda e: known.past_shared(e) or known.found("overrun")(e),
        "A block may have 1,024 threads, which are 32 warps: so many sums need a place.",
    ),
    Mistake(
        "one place for all blocks",
        cases.outside("out"),
        "out has one element, and all blocks add to it, by atomicAdd.",
    ),
    Mistake(
        "a thread reads past the last element",
        known.out_of_bounds,
        "Elements are x[0] to x[n - 1]: each thread asks before every load whether its next one is among them.",
    ),
    Mistake(
        "added without an atomic",
        known.found(*known.RACES, space="global"),
        "Several blocks change out[0], and += reads, adds and writes: atomicAdd does it in one piece.",
    ),
    Mistake(
        "one element a thread",
        known.gives(cases.sum_of(lambda i, threads, blocks: i < threads * blocks)),
        "The launch has fewer threads than there are elements: let each go on by gridDim.x * blockDim.x.",
    ),
    Mistake(
        "the sum of one warp",
        known.gives(cases.sum_of(lambda i, threads, blocks: i % threads < WARP)),
        "A shuffle stays within its warp. The sums of the other warps still have to be added.",
    ),
    Mistake(
        "lane 0 knows only itself",
        known.gives(cases.sum_of(lambda i, threads, blocks: i % WARP == 0)),
        "Each warp's first lane stored its own sum. Before that, the other 31 have to reach it by shuffles.",
    ),
    Mistake(
        "some lanes never reach lane 0",
        lambda e: any(
            known.gives(cases.sum_of(which))(e)
            for which in (lambda i, *_: i % WARP < WARP // 2, lambda i, *_: i % 2 == 0)
        ),
        "Half of the lanes are missing. Five shuffles it takes, by 16, 8, 4, 2 and 1, all of them.",
    ),
    Mistake(
        "shuffles in the wrong direction",
        known.gives(cases.lane_0_by_32),
        "__shfl_up_sync brings what lower lanes have, and lane 0 has none below it. __shfl_down_sync brings "
        "what higher ones have.",
    ),
    Mistake(
        "the first warp counts twice",
        known.gives(cases.first_warp_twice),
        "Thread 0 has the sum of its own warp in a register already, and adds s[0] to it. Begin at s[1], or at 0.",
    ),
    Mistake(
        "every thread adds to the result",
        known.gives(cases.times_threads),
        "The result is as many times too large as a block has threads. One thread of the block adds to it.",
    ),
    Mistake(
        "the first block alone",
        known.gives(cases.sum_of(lambda i, threads, blocks: i // threads % blocks == 0)),
        "Only what block 0 has found arrived in out[0]. Each block adds its part.",
    ),
    Mistake(
        "elements that several blocks add",
        known.gives(cases.blocks_overlap),
        "The loop goes on by the threads of one block, so that blocks meet each other's elements. Go on by "
        "those of the grid: gridDim.x * blockDim.x.",
    ),
    Mistake(
        "whole numbers only",
        known.gives(cases.in_whole_numbers),
        "An int cuts off fractions each time something is added to it. The sum is a float.",
    ),
    Mistake(
        "right for powers of two only",
        _odd_blocks_only,
        "Half of 96 is 48, then 24, 12, 6, 3, and half of 3 is 1: the third sum of 3 is never added. Shuffles "
        "halve 32, which is a power of two; the sums of the warps may be any number.",
    ),
    Mistake(
        "lanes that do not read neighbours",
        _loads(3),
        "Right, but a sector of 32 bytes is loaded for each float. Thread t takes elements t, t + threads of "
        "the grid, …, so that neighbouring lanes read neighbouring floats.",
    ),
    Mistake(
        "few do the work of all",
        known.over(SHARED_OUT.label),
        "Right, but a few warps load it all, and the others of the launch have nothing to do. Each thread of "
        "the grid takes its share: from blockIdx.x * blockDim.x + threadIdx.x on, by gridDim.x * blockDim.x.",
    ),
    Mistake(
        "loaded, and loaded again",
        known.over(LOADED),
        "Right, but sectors are loaded more than once. Load each element once, and keep it in a variable.",
    ),
    Mistake(
        "a tree in shared memory",
        known.over("shared stores per warp"),
        "Right, with a store for every step of the tree. Let lanes add by shuffles; a warp stores one number.",
    ),
    Mistake(
        "an atomic for every warp or thread",
        known.over("global atomics per block"),
        "Right, and many ask for one address. Join the warps in shared memory; one thread goes on.",
    ),
)
LOGSUMEXP = (
    MASK,
    UNWRITTEN,
    NO_BARRIER,
    GONE,
    Mistake(
        "an index that leaves the array",
        lambda e: any(isinstance(o.error, OutOfBounds) and o.case.arguments[0].shape[0] % 4 == 0 for o in e.outcomes),
        "Every warp has a row there, and still one reaches outside: it is x[row, column], with columns below "
        "x.shape[1].",
    ),
    Mistake(
        "no guard for the last rows",
        known.out_of_bounds,
        "A block has four warps, so the last block may have warps without a row: x.shape[0] says how many "
        "rows there are.",
    ),
    Mistake(
        "minus infinity minus itself",
        lambda e: any(map(_not_a_number, e.outcomes)),
        "A lane without an element begins at -inf, and -inf - (-inf) is not a number. Begin with something "
        "finite: the row's first element, with a sum of 0, changes nothing.",
    ),
    Mistake(
        "a warp has only part of its row",
        known.gives(cases.quarter_rows),
        "The 32 lanes of a warp share a row: they begin at their lane and go on by 32, whatever warp of the "
        "block they are of.",
    ),
    Mistake(
        "the greatest begins at 0",
        known.gives(cases.maximum_from_zero),
        "Where all elements are below 0, that is greater than any of them: exp(-200) is 0, and its logarithm "
        "-inf. Begin with an element of the row.",
    ),
    Mistake(
        "the exponential overflows",
        lambda e: any(map(_infinite, e.outcomes)),
        "exp(200) is beyond a float, and exp(-200) is 0, whose logarithm is -inf. Take the greatest m first: "
        "log-sum-exp = m + log Σ exp(x - m).",
    ),
    Mistake(
        "sums that belong to different maxima",
        lambda e: any(known.gives(cases.not_scaled(first))(e) for first in (True, False)),
        "A lane's sum is one of exp(x - m) with the lane's own m. Before two are added, both are multiplied "
        "by exp(own m - greater m).",
    ),
    Mistake(
        "the greatest is not added back",
        known.gives(cases.without_maximum),
        "log Σ exp(x - m) came out. The m that was taken out comes back: m + log Σ exp(x - m).",
    ),
    Mistake(
        "the sum begins at 1",
        known.gives(cases.sum_from_one),
        "Each lane counts an element that it has not met. A sum of 0 changes nothing, whatever the greatest.",
    ),
    Mistake(
        "the sum is not scaled when a greater element comes",
        lambda e: any(
            known.gives(cases.lanes_join(step))(e)
            for step in (cases.never_scaled, cases.scaled_backwards, cases.maximum_not_kept)
        ),
        "The sum so far is relative to the old greatest. When a greater one comes, multiply it by exp(old - "
        "new), which is below 1, and keep the new one.",
    ),
    Mistake(
        "some lanes never reach lane 0",
        lambda e: any(
            known.gives(
                lambda case, first=first: cases.log_sum_exp(
                    case.arguments[0][:, first(np.arange(case.arguments[0].shape[1]) % WARP)]
                )
            )(e)
            for first in (lambda lane: lane % 2 == 0, lambda lane: lane < WARP // 2)
        ),
        "Half of the lanes are missing. Five shuffles it takes, by 16, 8, 4, 2 and 1, all of them.",
    ),
    Mistake(
        "only the first 32 columns",
        known.gives(lambda case: cases.log_sum_exp(case.arguments[0][:, :WARP])),
        "Each lane looked at one element. Let it go on by 32 until the end of the row.",
    ),
    Mistake(
        "lane 0 knows only itself",
        known.gives(lambda case: cases.log_sum_exp(case.arguments[0][:, ::WARP])),
        "Lane 0 stored what it found in every 32nd column. First the other lanes have to reach it.",
    ),
    Mistake(
        "lanes that do not read neighbours",
        _loads(3),
        "Right, but a sector of 32 bytes is loaded for each float: in one request the lanes should read "
        "neighbours in one row.",
    ),
    Mistake(
        "every element is loaded twice",
        known.over(LOADED),
        "Right, in two passes: one for the greatest, one for the sum. One will do, if the sum is scaled anew "
        "whenever a greater element comes.",
    ),
    Mistake(
        "a detour through shared memory",
        known.over("shared requests"),
        "Right, and the lanes that meet in shared memory are all of one warp: shuffles do.",
    ),
)
FILL = (
    Mistake(
        "nothing is written yet",
        known.gives(lambda case: case.out.initial),
        f"out still holds the {cases.NOT_WRITTEN} that it began with.",
    ),
    MASK,
    UNWRITTEN,
    NO_BARRIER,
    GONE,
    SHORT,
    Mistake(
        "a thread beyond its row",
        known.out_of_bounds,
        "Row r is x[r * n] to x[r * n + n - 1]: rows are n apart, not 256, and threads from n on neither load "
        "nor store.",
    ),
    Mistake(
        "gaps are not written",
        lambda e: any(known.gives(each)(e) for each in (cases.gaps_not_written, cases.open_gaps_not_written)),
        f"Where out holds {cases.NOT_WRITTEN}, nobody has written. Each element of the row is stored, also the "
        "-1 of a gap that no reading precedes.",
    ),
    Mistake(
        "the end of each row is not written",
        lambda e: any(not o.ok and o.got is not None and (o.got[:, -1] == cases.NOT_WRITTEN).all() for o in e.outcomes),
        f"The last elements of rows still hold the {cases.NOT_WRITTEN} that they began with.",
    ),
    Mistake(
        "only the nearest warp is asked",
        known.gives(cases.nearest_warp_only),
        "A whole warp may be without a reading. Then the one before it is asked, and so on to the first.",
    ),
    Mistake(
        "the warp furthest back is asked first",
        known.gives(cases.first_of_warps),
        "The last reading counts, so ask the warps before your own from the nearest one back.",
    ),
    Mistake(
        "four steps where it takes five",
        known.gives(cases.half_a_scan),
        "Within a warp a reading came 15 elements far. Distances are 1, 2, 4, 8 and 16.",
    ),
    Mistake(
        "each warp begins anew",
        known.gives(cases.each_warp_filled),
        "Shuffles stay within a warp. A gap that no reading of its own warp precedes takes the last one of "
        "the warps before.",
    ),
    Mistake(
        "only the neighbour",
        known.gives(cases.neighbour_filled),
        "One step reaches one element back. The distance doubles, 1, 2, 4, …",
    ),
    Mistake(
        "the earlier of two readings",
        known.gives(cases.first_reading),
        "Of two readings the later one counts: take your neighbour's only where you have none. The order of "
        "the two operands matters here, as it does not in a sum.",
    ),
    Mistake(
        "zero is taken for a gap",
        known.gives(cases.zero_is_a_gap),
        "0 is a reading. Gaps are below zero.",
    ),
    Mistake(
        "filled from the right",
        known.gives(lambda case: np.fliplr(cases.filled(np.fliplr(case.arguments[0])))),
        "Each gap took the reading that comes after it. __shfl_up_sync brings what lies before.",
    ),
    Mistake(
        "walks back through global memory",
        known.over(LOADED),
        "Right, but elements are loaded again by every gap behind them, or a sector for each. Load each once; "
        "what threads need of one another goes through shuffles.",
    ),
    Mistake(
        "barriers at every step",
        known.over("barriers per warp"),
        "Right, with barriers at each step of a scan in shared memory. Within a warp shuffles need none.",
    ),
    Mistake(
        "walks back through shared memory",
        known.over("shared requests per row"),
        "Right, but a gap of 200 elements is walked 200 times. A scan takes log₂ steps, whatever the gap.",
    ),
)
COMPACT = (
    Mistake(
        "nothing is kept yet",
        known.gives(lambda case: np.zeros(case.arguments[0].size)),
        "out still holds the zeros that it began with.",
    ),
    MASK,
    UNWRITTEN,
    NO_BARRIER,
    SHORT,
    Mistake(
        "a place too far on",
        known.gives(cases.one_place_on),
        "out[0] is empty. An element's place is the number of those kept before it; its own bit does not count.",
    ),
    Mistake(
        "no guard for the last round",
        known.out_of_bounds,
        "The last round has fewer than 256 elements: a thread without one brings 0, which is not kept.",
    ),
    GONE,
    Mistake(
        "two elements in one place",
        known.found(*known.RACES, space="global"),
        "Two threads store to one element of out. A place is the number of elements kept before: in this "
        "warp, in the warps before it, and in all rounds before this one.",
    ),
    Mistake(
        "holes are left",
        known.gives(lambda case: np.maximum(case.arguments[0], 0)),
        "Each element stands where it stood. Its place is the number of elements that are kept before it.",
    ),
    Mistake(
        "each round begins at 0",
        known.gives(cases.chunks_overwrite),
        "The next 256 elements overwrite what the first ones left: carry on how many have been kept so far.",
    ),
    Mistake(
        "only the first 256",
        known.gives(
            lambda case: np.pad(cases.kept(x := case.arguments[0][:BLOCK]), (0, case.out.expected.size - x.size))
        ),
        "The block has 256 threads, and the array more elements: go on, 256 further each time.",
    ),
    Mistake(
        "whole rounds only",
        known.gives(cases.whole_rounds_only),
        "What is left after the last 256 is missing: one round more, in which only some threads have an element.",
    ),
    Mistake(
        "zeros are kept",
        known.gives(cases.zeros_kept),
        "Zero is not positive, and takes no place.",
    ),
    Mistake(
        "places from an atomic",
        known.over("atomics"),
        "Right here, because warps ran in order, and by nothing else. A scan gives every element its place, "
        "whoever comes first.",
    ),
    Mistake(
        "loaded, and loaded again",
        lambda e: known.over(LOADED)(e) and not _loads(3)(e),
        "Right, but elements are loaded twice. In one pass each is loaded once: put it into a variable, which "
        "outlives barriers; the compiler may not keep it across one for you.",
    ),
    Mistake(
        "lanes that do not read neighbours",
        lambda e: known.over(LOADED)(e) or known.over("bytes stored per byte needed")(e),
        "Right, but a sector of 32 bytes is moved for each float. Let the lanes of a warp look at neighbours, "
        "and several warps at once.",
    ),
    Mistake(
        "few do the work of all",
        known.over(SHARED_OUT.label),
        "Right, but one of eight warps does nearly everything. In a round each of the 256 threads has an element.",
    ),
    Mistake(
        "barriers at every step",
        known.over("barriers per round of 256"),
        "Right, with barriers at each step of a scan in shared memory. Within a warp none is needed.",
    ),
)
