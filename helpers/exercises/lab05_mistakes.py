"""What is done wrong in the reductions of lab 05, by its traces: mistakes in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Mistake
from helpers.exercises import lab05_cases as cases
from helpers.exercises import lab05_traces as traces
from helpers.exercises.lab05_cases import WARP
from helpers.vgpu.base.errors import OutOfBounds

LOADED = "bytes loaded per byte needed"
STORES = "shared stores per warp"
MASK_SELF = Mistake(
    "a mask without the lane itself",
    known.found("mask_self"),
    "A mask names the lanes that come to a shuffle or ballot, and each that comes has to be among them. All 32 come: "
    "0xffffffff.",
)
MASK = Mistake(
    "a shuffle that not all lanes reach",
    known.found("mask_absent", "mask_ended"),
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
ONE_PLACE = Mistake(
    "several threads store to one place",
    lambda e: any(
        f.kind in ("race_write_write", "race_lanes") and f.space == "shared" and f.line == f.other_line
        for f in e.findings
    ),
    "Several threads store to one element of a shared array, in one line: a barrier cannot order that. What a warp has "
    "found is stored by one of its lanes, to a place that no other warp has: s[t / 32].",
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


def loads(more_than: float):
    """Right, and more bytes are loaded for each that is needed."""
    return lambda e: any(each.label == LOADED and each.value > max(more_than, each.at_most) for each in e.budgets)


_CUT = (cases.in_whole_numbers, traces.warps_in_whole_numbers(0), traces.warps_in_whole_numbers(1))

TOTAL = (
    Mistake(
        "nothing is added yet",
        known.gives(lambda case: np.zeros(1)),
        "out[0] still holds the 0 that it began with.",
    ),
    MASK_SELF,
    MASK,
    ONE_PLACE,
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
        "the last element is left out",
        known.gives(lambda case: np.array([case.arguments[0][:-1].sum()])),
        "Elements are x[0] to x[n - 1], so the loop goes on while i < n.",
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
        "some warps are never added",
        lambda e: any(known.gives(traces.first_warps(count))(e) for count in (2, 4, 8, 16)),
        "Only the first few warps of a block have come together. How many there are is up to the launch: "
        "blockDim.x / 32, at most 32.",
    ),
    Mistake(
        "a lane's sum is replaced",
        known.gives(cases.sum_of(lambda i, *_: i % WARP == WARP - 1)),
        "Lane 31's own sum came out: a shuffle's result took the place of what the lane had. Add it: sum += …",
    ),
    Mistake(
        "shuffles by other distances",
        lambda e: any(
            known.gives(traces.by_steps(*steps))(e) for steps in ((1,) * 5, (1,) * 31, (16,) * 5, (1, 2, 3, 4, 5))
        ),
        "Some lanes came to lane 0 several times, or not at all. The distance halves: 16, 8, 4, 2 and 1.",
    ),
    Mistake(
        "everything is counted twice",
        known.gives(lambda case: 2 * case.out.expected),
        "The result is twice the sum. A shuffle by 32 leads out of the warp, and so brings a lane its own value again: "
        "begin with 16.",
    ),
    Mistake(
        "lanes taken for warps",
        known.gives(traces.lanes_taken_for_warps),
        "The lanes of the first warp stored their sums, and no other warp did. t % 32 is the lane, t / 32 the warp: "
        "lane 0 of each warp stores to s[t / 32].",
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
        "every lane adds what its warp has found",
        known.gives(lambda case: WARP * case.out.expected),
        "The result is 32 times too large: after __shfl_xor_sync each lane has its warp's sum. One of them goes on "
        "with it.",
    ),
    Mistake(
        "the last block alone",
        known.gives(cases.sum_of(lambda i, threads, blocks: i // threads % blocks == blocks - 1)),
        "Only what the last block has found is in out[0]: it took the place of what others had left. atomicAdd adds.",
    ),
    Mistake(
        "blocks that all begin at the first element",
        known.gives(traces.blocks_begin_together),
        "Each block added the same elements. A thread begins at its place in the grid: blockIdx.x * blockDim.x + t.",
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
        lambda e: any(known.gives(each)(e) for each in _CUT),
        "An int cuts off fractions whenever something is stored to it. The sum is a float, and so is s.",
    ),
    Mistake(
        "right for powers of two only",
        _odd_blocks_only,
        "Half of 96 is 48, then 24, 12, 6, 3, and half of 3 is 1: the third sum of 3 is never added. Shuffles "
        "halve 32, which is a power of two; the sums of the warps may be any number.",
    ),
    Mistake(
        "lanes that do not read neighbours",
        loads(3),
        "Right, but a sector of 32 bytes is loaded for each float. Thread t takes elements t, t + threads of "
        "the grid, …, so that neighbouring lanes read neighbouring floats.",
    ),
    Mistake(
        "few do the work of all",
        known.over(SHARED_OUT.label),
        "Right, but one warp executes more than twice what warps do on average. Either few load for all: then each "
        "thread of the grid takes its share, from blockIdx.x * blockDim.x + threadIdx.x on, by gridDim.x * blockDim.x. "
        "Or one thread adds up the sums of all threads: let warps add theirs by shuffles first.",
    ),
    Mistake(
        "loaded, and loaded again",
        known.over(LOADED),
        "Right, but sectors are loaded more than once. Load each element once, and keep it in a variable.",
    ),
    Mistake(
        "a shared atomic of every thread",
        lambda e: any(each.label == STORES and each.value > WARP for each in e.budgets),
        "Right, and 32 lanes ask for one shared address, one after the other. Let them add by shuffles; then one lane "
        "of the warp has something to store or add.",
    ),
    Mistake(
        "a tree in shared memory",
        known.over(STORES),
        "Right, and more than one number a warp is stored: sums of threads, or of steps of a tree. Let lanes add by "
        "shuffles; a warp stores one number.",
    ),
    Mistake(
        "an atomic for every warp or thread",
        known.over("global atomics per block"),
        "Right, and many ask for one address. Join the warps in shared memory; one thread goes on.",
    ),
)
LOGSUMEXP = (
    MASK_SELF,
    MASK,
    ONE_PLACE,
    UNWRITTEN,
    NO_BARRIER,
    GONE,
    Mistake(
        "out has an element for each row",
        lambda e: any(
            isinstance(o.error, OutOfBounds) and "`out" in str(o.error) and o.case.arguments[0].shape[0] % 4 == 0
            for o in e.outcomes
        ),
        "Every warp has a row there, and still one reaches outside out: it is out[row], one element for a warp.",
    ),
    Mistake(
        "warps that share a row",
        lambda e: (
            known.found(*known.RACES, space="global")(e)
            or any(o.error is None and o.untouched.any() and not o.untouched.all() for o in e.outcomes)
        ),
        "Rows are left out, or several warps store to one element of out. Count warps of the whole grid: warp "
        "cuda.grid(1) // 32 has row and out[row] of that number, and a block has four warps.",
    ),
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
        "sums that belong to different maxima",
        lambda e: any(
            known.gives(wrong)(e)
            for wrong in (
                cases.not_scaled(True),
                cases.not_scaled(False),
                traces.lanes_of_other_maxima,
                traces.pairs_joined(traces.greatest_joined_first),
                traces.pairs_joined(traces.both_scaled_by_own),
            )
        ),
        "A lane's sum is one of exp(x - m) with the lane's own m. Before two are added, each is multiplied "
        "by exp(its own m - greater m). (After __shfl_xor_sync all lanes have the greatest of the row, after "
        "shfl_down_sync lane 0 alone.)",
    ),
    Mistake(
        "the greater one is not kept when pairs join",
        known.gives(traces.pairs_joined(traces.greatest_not_kept)),
        "The sums were made relative to the greater of the two, and m stayed what it was: m = big.",
    ),
    Mistake(
        "everything is counted twice",
        known.gives(lambda case: case.out.expected + np.log(2)),
        "The sum is twice what it should be. A shuffle by 32 leads out of the warp, and so brings a lane its own pair "
        "again: begin with 16.",
    ),
    Mistake(
        "the greatest alone",
        known.gives(lambda case: case.arguments[0].max(axis=1)),
        "m came out: the logarithm of the sum is still to be added to it.",
    ),
    Mistake(
        "the logarithm is missing",
        known.gives(lambda case: (m := case.arguments[0].max(axis=1)) + np.exp(case.out.expected - m)),
        "m + Σ exp(x - m) came out: take the logarithm of the sum.",
    ),
    Mistake(
        "another logarithm",
        lambda e: any(
            known.gives(
                lambda case, base=base: (m := case.arguments[0].max(axis=1)) + (case.out.expected - m) / np.log(base)
            )(e)
            for base in (2, 10)
        ),
        "exp has base e, and so has its logarithm: math.log.",
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
        "minus infinity minus itself",
        lambda e: any(map(_not_a_number, e.outcomes)),
        "A lane without an element begins at -inf, and -inf - (-inf) is not a number. Begin with something "
        "finite: the row's first element, with a sum of 0, changes nothing.",
    ),
    Mistake(
        "the exponential overflows",
        lambda e: any(map(_infinite, e.outcomes)),
        "exp(200) is beyond a float, and exp(-200) is 0, whose logarithm is -inf. Take out the greatest m of the row, "
        "and nothing that may be far from it: log-sum-exp = m + log Σ exp(x - m).",
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
        loads(3),
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
