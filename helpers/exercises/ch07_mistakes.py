"""How common mistakes in reductions and scans are known by their traces."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Mistake
from helpers.exercises import ch07_cases as given
from helpers.exercises.ch07_cases import BLOCK, BLOCKS, WARP
from helpers.vgpu.base.errors import Deadlock


def _stuck(evidence) -> bool:
    """Threads wait at different barriers: what races there are then come of that."""
    return known.found(*known.BARRIERS)(evidence) or any(isinstance(o.error, Deadlock) for o in evidence.outcomes)


def _race_in_shared(evidence) -> bool:
    return known.found(*known.RACES, space="shared")(evidence) and not _stuck(evidence)


ONE_WARP_WORKS = Mistake(
    "few warps do the work of all",
    known.over(given.SHARED_OUT.label),
    "Right, with most warps idle. Let the threads of all warps, in all blocks, have their share of the elements.",
)


def _greatest_of(chosen):
    """The greatest of the elements whose thread is one of `chosen(threads)`, and of the first one."""

    def wrong(case: Case) -> np.ndarray:
        x = case.arguments[0]
        mine = chosen(np.arange(x.shape[1]) % BLOCK)
        mine[0] = True
        return x[:, mine].max(axis=1)

    return wrong


def _first_row_for_all(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return np.full(len(x), x[0].max())


def _last_left_out(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return x[:, : max(1, x.shape[1] - 1)].max(axis=1)


def _first_output_only(evidence) -> bool:
    """Of several outputs the first one alone is written."""
    seen = [o for o in evidence.outcomes if o.untouched is not None and o.untouched.size > 1]
    return bool(seen) and all(o.untouched[1:].all() and not o.untouched[0] for o in seen)


def _one_element_a_thread(case: Case) -> np.ndarray:
    return case.arguments[0][:, :BLOCK].max(axis=1)


def _zero_is_the_least(case: Case) -> np.ndarray:
    return np.maximum(case.out.expected, 0)


def _dot_of(case: Case, places: np.ndarray) -> np.ndarray:
    x, y, _ = case.arguments
    return np.array([np.dot(x[places].astype(np.float64), y[places])])


def _first_of_each_thread(case: Case) -> np.ndarray:
    return _dot_of(case, np.arange(case.arguments[0].size) < BLOCK * BLOCKS)


def _dot_of_threads(chosen):
    """The sum of those products whose thread is one of `chosen(threads)` of the block."""
    return lambda case: _dot_of(case, chosen(np.arange(case.arguments[0].size) % BLOCK))


def _last_of_each_thread(case: Case) -> np.ndarray:
    n = case.arguments[0].size
    return _dot_of(case, np.arange(n) >= n - BLOCK * BLOCKS)


def _steps_of_a_block(case: Case) -> np.ndarray:
    """What comes of starting at cuda.grid(1) and going on by the threads of a block: later elements count again."""
    x, y, _ = case.arguments
    times = np.minimum(np.arange(x.size) // BLOCK + 1, BLOCKS)
    return np.array([np.dot(x.astype(np.float64) * times, y)])


def _times(factor: int):
    return known.gives(lambda case: factor * case.out.expected)


def _fractions_lost(evidence) -> bool:
    """All results are whole numbers, and nearly right."""
    seen = [o for o in evidence.outcomes if o.got is not None]
    return any(not o.ok for o in seen) and all(
        np.isfinite(o.got[0]) and o.got[0] % 1 == 0 and abs(o.got[0] - o.case.out.expected[0]) < WARP for o in seen
    )


def _inclusive(case: Case) -> np.ndarray:
    return np.cumsum(case.arguments[0])


def _reaching(distance: int):
    """Each element the sum of only so many before it."""

    def wrong(case: Case) -> np.ndarray:
        sums = np.concatenate([[0], np.cumsum(case.arguments[0])])[:-1]
        return sums - np.concatenate([np.zeros(min(distance, sums.size), sums.dtype), sums])[: sums.size]

    return wrong


def _half_a_power(case: Case) -> np.ndarray:
    """What the steps `d <= n / 2` reach."""
    return _reaching(1 << (case.arguments[0].size.bit_length() - 1))(case)


def _one_thread_short(case: Case) -> np.ndarray:
    """Hillis and Steele's steps with `t > d` in place of `t >= d`, handed one place on."""
    s, d = case.arguments[0].copy(), 1
    while d < s.size:
        s[d + 1 :] += s[1:-d].copy()
        d *= 2
    return np.concatenate([[0], s[:-1]])


def _from_the_end(case: Case) -> np.ndarray:
    x = case.arguments[0]
    return np.cumsum(x[::-1])[::-1] - x


def _only_the_first_left(evidence) -> bool:
    return known.untouched_somewhere(evidence) and all(
        o.untouched.sum() == 1 and o.untouched[0] for o in evidence.outcomes
    )


def _powers_of_two_only(evidence) -> bool:
    """With powers of two as sizes it is right, and with none of the others."""
    sizes = [(o.case.block[0], o.ok) for o in evidence.outcomes if o.case.block[0] > 1]
    return all(ok == (n & (n - 1) == 0) for n, ok in sizes) and len(sizes) > 1


def _below_shared(evidence) -> bool:
    return known.past_shared(evidence) and any("at byte -" in str(o.error) for o in evidence.outcomes)


def _each_warp(case: Case) -> np.ndarray:
    x = case.arguments[0]
    parts = [x[start : start + WARP] for start in range(0, x.size, WARP)]
    return np.concatenate([np.concatenate([[0], np.cumsum(part)[:-1]]) for part in parts])


ROW_MAX = (
    Mistake(
        "a shuffle that not all lanes reach",
        known.found("mask_absent", "mask_self"),
        "The mask 0xffffffff names 32 lanes, and all 32 must come to the shuffle. Let lanes without an element "
        "come along with the row's first one, which changes nothing, and put no `if` around the shuffle.",
    ),
    Mistake(
        "shared memory that nobody has written",
        known.found("uninitialised", space="shared"),
        "Whoever reads an element of it needs somebody who has written it. Threads that return early write "
        "nothing; and where each warp leaves one number there are four, so lanes beyond the fourth take s[0].",
    ),
    Mistake(
        "several lanes store to one place",
        lambda e: known.found("race_lanes", space="shared")(e) and not _stuck(e),
        "One lane of a warp knows its greatest, and the others store over it: `if (t % 32 == 0)`.",
    ),
    Mistake(
        "no barrier between the warps",
        _race_in_shared,
        "One warp reads what three others write: between the two stands __syncthreads().",
    ),
    Mistake(
        "all rows have one result",
        _first_output_only,
        "Every block writes out[0]. A block's row is blockIdx.x, and so is its result: out[blockIdx.x].",
    ),
    Mistake(
        "several threads write one result",
        known.found("race_lanes", "race_write_write", space="global"),
        "Several threads of a block store to one element of out, and whoever comes last wins. What the warps "
        "know has to meet in shared memory; then one thread writes.",
    ),
    Mistake(
        "every block takes the first row",
        known.gives(_first_row_for_all),
        "blockIdx.x says which row: it begins at x + blockIdx.x * n.",
    ),
    Mistake(
        "zero is taken for the least",
        known.gives(_zero_is_the_least),
        "With all elements below zero the greatest is below zero, too. Begin with an element of the row.",
    ),
    Mistake(
        "one element a thread",
        known.gives(_one_element_a_thread),
        "128 threads looked at 128 elements and stopped. Let each go on, 128 elements further, up to n.",
    ),
    Mistake(
        "the last element is left out",
        known.gives(_last_left_out),
        "A row has the elements 0 to n - 1: i < n.",
    ),
    Mistake(
        "the greatest of one warp",
        known.gives(_greatest_of(lambda t: t < WARP)),
        "A shuffle stays within its warp: lane 0 knows 32 lanes. The four warps still have to meet, in shared memory.",
    ),
    Mistake(
        "lane 0 knows only itself",
        known.gives(_greatest_of(lambda t: t % WARP == 0)),
        "Lane 0 compares its own elements. Before that, the other 31 have to reach it: 16, 8, 4, 2, 1 by "
        "__shfl_down_sync.",
    ),
    Mistake(
        "a step is missing",
        known.either(*(known.gives(_greatest_of(lambda t, d=d: t & d == 0)) for d in (1, 2, 4, 8, 16, 32, 64))),
        "Half of the threads never get through to the result. 32 lanes take the steps 16, 8, 4, 2 and 1; then "
        "four warps take 2 and 1.",
    ),
    Mistake(
        "a request brings one element",
        known.over(given.LOADS.label),
        "Right, with one element a request. Let all threads load, each 128 elements further on.",
    ),
    Mistake(
        "lanes are not on neighbouring elements",
        known.over(given.SECTORS.label),
        "Right, but the lanes of a warp read elements that lie apart, a sector each. Thread t begins with "
        "element t and goes on by 128.",
    ),
    Mistake(
        "a tree in shared memory",
        lambda e: known.over(given.BARRIERS.label)(e) or known.over(given.SHARED.label)(e),
        "Right, with a barrier for every step of the tree. Within a warp shuffles need none: five of them, "
        "then one number a warp goes to shared memory.",
    ),
    ONE_WARP_WORKS,
)

DOT = (
    Mistake(
        "added without an atomic",
        known.found(*known.RACES, space="global"),
        "Several threads change out[0], and nothing keeps one from undoing what another has done. `+=` reads, "
        "adds and writes; `=` forgets the others: cuda.atomic.add(out, 0, …).",
    ),
    Mistake(
        "a shuffle that not all lanes reach",
        known.found("mask_absent", "mask_self"),
        "The mask names 32 lanes, and all 32 must come to the shuffle: put no `if` around it.",
    ),
    Mistake(
        "shared memory that nobody has written",
        known.found("uninitialised", space="shared"),
        "Whoever reads an element of shared memory needs someone to have written it. Threads that return early write "
        "nothing; what is added to wants a 0 first; and where four warps write four sums, the other lanes take 0.",
    ),
    Mistake(
        "a barrier is missing",
        _race_in_shared,
        "One thread reads what another wrote to shared memory: between the two stands cuda.syncthreads().",
    ),
    Mistake(
        "one element a thread",
        known.gives(_first_of_each_thread),
        "512 threads multiplied 512 pairs and stopped. Step on by cuda.gridsize(1) until x.size.",
    ),
    Mistake(
        "only the last product of each thread",
        known.gives(_last_of_each_thread),
        "A thread has several products, and `=` forgets those before: add them up with +=.",
    ),
    Mistake(
        "steps of a block",
        known.gives(_steps_of_a_block),
        "Thread cuda.grid(1) goes on by all threads of the grid, cuda.gridsize(1). By cuda.blockDim.x it meets "
        "elements that another block has already.",
    ),
    Mistake(
        "four times too much",
        _times(BLOCKS),
        "There are four blocks of four warps. Either each block adds all pairs: begin at cuda.grid(1). Or each "
        "warp adds the sum of the block: thread 0 alone may.",
    ),
    Mistake(
        "every thread adds the same sum",
        known.either(_times(BLOCK), _times(WARP)),
        "The sum of the block is to be added once: `if t == 0:` ahead of the atomic.",
    ),
    Mistake(
        "the fractions are lost",
        _fractions_lost,
        'The sums are floats, and something on their way holds whole numbers: shared memory of "int32", say.',
    ),
    Mistake(
        "the sum of one warp",
        known.gives(_dot_of_threads(lambda t: t < WARP)),
        "A shuffle stays within its warp, so thread 0 knows the sum of 32 threads only. The other three warps "
        "have sums of their own.",
    ),
    Mistake(
        "lane 0 knows only itself",
        known.gives(_dot_of_threads(lambda t: t % WARP == 0)),
        "Lane 0 adds its own product. Before that, the other 31 have to reach it: 16, 8, 4, 2, 1 by "
        "cuda.shfl_down_sync.",
    ),
    Mistake(
        "a step is missing",
        known.either(*(known.gives(_dot_of_threads(lambda t, d=d: t & d == 0)) for d in (1, 2, 4, 8, 16, 32, 64))),
        "Half of the threads never get through to the result. 32 lanes take the steps 16, 8, 4, 2 and 1; then "
        "there are the sums of four warps.",
    ),
    Mistake(
        "an atomic for each thread or warp",
        known.over(given.ATOMICS.label),
        "Right, and many ask for one address. Add up within the block first; one thread of it goes on.",
    ),
    Mistake(
        "one lane of many works",
        known.over(given.DOT_LOADS.label),
        "Right, with one element a request. Let every thread of the grid begin at cuda.grid(1) and go on by "
        "cuda.gridsize(1).",
    ),
    Mistake(
        "lanes are not on neighbouring elements",
        known.over(given.DOT_SECTORS.label),
        "Right, but each thread has elements of its own side by side, so that the lanes of a warp are a sector "
        "or more apart. Begin at cuda.grid(1) and go on by cuda.gridsize(1).",
    ),
    ONE_WARP_WORKS,
)

EXCLUSIVE = (
    Mistake(
        "shared memory that nobody has written",
        known.found("uninitialised", space="shared"),
        "A tree over the next power of two needs zeros behind the last element.",
    ),
    Mistake(
        "read and written in one step",
        _race_in_shared,
        "A step reads the neighbour's old sum and overwrites its own: a barrier between the reads and the "
        "writes, another one before the next step. Or two arrays, used in turn.",
    ),
    Mistake(
        "inclusive, not exclusive",
        known.gives(_inclusive),
        "out[i] is the sum of the elements *before* i, and out[0] is 0: shift by one.",
    ),
    Mistake(
        "a neighbour outside the block",
        _below_shared,
        "Thread t has no neighbour t - d as long as t < d, and thread 0 none at all: take 0 there, as in "
        "`t >= d ? s[t - d] : 0`.",
    ),
    Mistake(
        "shared memory is too small",
        known.past_shared,
        "Some thread reaches beyond the end of shared memory. A block has up to 1,024 threads: "
        "`__shared__ int s[1024];`, as the launch gives no size. What is beyond that is no thread's element.",
    ),
    Mistake(
        "nobody writes out[0]",
        _only_the_first_left,
        "Before the first element there is nothing, and the sum of nothing is 0: somebody has to write it.",
    ),
    Mistake(
        "only the neighbour",
        known.gives(_reaching(1)),
        "One step reaches one element back. The distance doubles, 1, 2, 4, …, until it covers the block.",
    ),
    Mistake(
        "too few steps",
        known.either(*(known.gives(_reaching(2**k)) for k in range(1, 10)), known.gives(_half_a_power)),
        "Some elements have the sum of a few before them, not of all. The distance doubles until it covers the "
        "block, for (int d = 1; d < n; d *= 2), and not only a warp.",
    ),
    Mistake(
        "one thread a step stands back",
        known.gives(_one_thread_short),
        "Thread d has a neighbour at distance d: s[0]. So t >= d, not t > d.",
    ),
    Mistake(
        "from the end",
        known.gives(_from_the_end),
        "These are the sums of what comes behind each element. Add s[t - d], and hand on s[t - 1].",
    ),
    Mistake(
        "each warp starts from zero",
        known.gives(_each_warp),
        "Shuffles stay within a warp. The sums of all warps before it still have to be added.",
    ),
    Mistake(
        "right for powers of two only",
        _powers_of_two_only,
        "n / 2, n / 4, … skips elements when n is odd somewhere on the way. Let the distance grow from 1 while "
        "it is less than n.",
    ),
    Mistake(
        "every thread adds all before it",
        known.over(given.STEPS.label),
        "Right, with n² / 2 additions. Let the threads share their sums: log₂ n steps.",
    ),
    Mistake(
        "one thread adds for all",
        known.over(given.LONGEST.label),
        "Right, one element after another, while all other warps wait. Let all threads add, in log₂ n steps.",
    ),
    Mistake(
        "every step goes through global memory",
        known.over(given.SCAN_LOADS.label),
        "Right, in few steps, and each of them loads from global memory. Load once, and keep the sums in "
        "shared memory or registers.",
    ),
)
