"""The most frequent value in one launch: all blocks count, and the last one looks."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, plural
from helpers.exercises.lab04.budgets import (
    BARRIERS_A_WARP,
    BLOCK,
    BLOCKS,
    NO_FENCE,
    NO_ORDER,
    NOBODY_LAST,
    TICKETS,
    WITHOUT_ATOMIC,
    loads,
    one_ticket,
)

BINS = 64
DRAW = "cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1"
LEAVE = "parts[cuda.blockIdx.x, t] = mine[t]"
ONE_DRAWS, ALL_DRAW = "if t == 0:\n        last", "if True:\n        last"
FENCE = "cuda.threadfence()"
TOO_EARLY = """    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(parts, (0, values[i]), 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        best = 0
        for k in range(1, 64): best = k if parts[0, k] > parts[0, best] else best
        out[0] = best"""


def _case(n: int, seed: int = 0, hot: float = 0.0, best: int | None = None, with_last: bool = False) -> Case:
    """About `n` values, of which `hot` are two: one occurs once more than the other, `best`, or both equally often. One
    of the two may be the last bin."""
    dice = np.random.default_rng(seed or n)
    values, name = dice.integers(0, BINS, n).astype(np.int32), ""
    if n > 1:
        first, second = np.sort(dice.choice(BINS, 2, replace=False)) if best is None else (best, (best + 32) % BINS)
        if with_last:
            first, second = min(first, BINS - 2), BINS - 1
        values = np.where(dice.random(n) < hot, np.where(dice.random(n) < 0.5, first, second), values).astype(np.int32)
        most = _often(values).max() + 1
        wanted = ((second, most), (first, most if best is None else most + 1))
        extra = [np.full(count - _often(values)[value], value, np.int32) for value, count in wanted]
        values, name = np.concatenate([values, *extra]), ", two of them in most places" if hot else ""
    out = Out(np.array([_often(values).argmax()], np.int32))
    arguments = (values, np.zeros((BLOCKS, BINS), np.int32), np.zeros(1, np.int32), out)
    return Case(plural(values.size, "value") + name, arguments, (BLOCKS,), (BLOCK,))


def _often(values: np.ndarray) -> np.ndarray:
    return np.bincount(values, minlength=BINS)


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (1, 0.0, None),
        (int(dice.integers(2, 97)), 0.0, None),
        (int(dice.integers(2, 97)), 0.0, BINS - 1),
        (int(dice.integers(600, 999)), 0.0, 0),
        (int(dice.integers(1500, 2500)), 0.6, None),
        (int(dice.integers(4000, 6000)), 0.6, int(dice.integers(0, BINS))),
    ]
    drawn = [_case(n, int(dice.integers(1, 10**6)), hot, best) for n, hot, best in sizes]
    return [_case(int(dice.integers(98, 400)), int(dice.integers(1, 10**6)), with_last=True), *drawn]


EXERCISE = Exercise(
    key="lab04.mode",
    title="the most frequent value in one launch, in Numba",
    language="numba", name="mode",
    cases=lambda: [_case(1), _case(31, best=1), *map(_case, (97, 600, 849)),
                   *(_case(n, hot=0.4, best=best) for n, best in ((1021, 63), (700, 0)))],
    measured=lambda: _case(5000, hot=0.6, best=11), drawn=_drawn,
    sanitize=True, shared_out=True,
    budgets=(
        one_ticket("A block leaves its 64 counts in its row of `parts`, with plain stores. Only the ticket is an "
                   "atomic."),
        loads(1.2, "Every value is loaded once, by lanes that read neighbours, and so are the counts in `parts`."),
        BARRIERS_A_WARP,
    ),
    hints=(
        "Exercises 2 and 3 in one: private bins, left in parts; then a ticket; then the last block adds up parts and "
        "looks for the greatest.",
        "Whoever stores to parts puts a fence behind it; then a barrier; then thread 0 draws the ticket, puts a fence "
        "behind it and tells the block.",
        "cuda.threadfence() in Numba; last[0] = cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1. In the last "
        "block thread t < 64 adds up column t of parts; barrier; thread 0 goes through 64 sums and takes a bin only if "
        "it has more.",
    ),
    why="This is how one launch does two phases: all blocks count, and the last one looks at all. What orders them is "
    "the chain store – fence – barrier – ticket – fence – barrier – load. Leave out a link, and some store and some "
    "load have nothing between them. The result would still be right here, in every run, which is why the sanitizer is "
    "asked and not the result. A row of its own spares a block atomics on counts that all share.",
    stretch="let the 64 sums be compared by two warps with shuffles, or by one atomic.max on count * 64 + 63 - bin.",
    equivalent=tuple((change, why) for why, changes in (
        ("parts holds zeros, and nobody else adds there", ((LEAVE, LEAVE.replace("=", "+=")),)),
        ("all bins change alike", (("mine[t] = 0\n    cuda", "mine[t] = 1\n    cuda"), ("values[i], 1", "values[i], 2"),
                                   ("mine[t] = 0\n            for", "mine[t] = 1\n            for"))),
        ("any thread may do it", (("t == 0:\n        last", "t == 1:\n        last"),
                                  ("t == 0:\n            best", "t == 1:\n            best"))),
        ("more room than it takes", (("array(64", "array(65"), ("array(1,", "array(2,"))),
        ("bin 0 is compared with itself", (("range(1,", "range(0,"),)),
    ) for change in changes),
    mistakes=(
        Mistake(*NOBODY_LAST, (("gridDim.x - 1", "gridDim.x"), (ONE_DRAWS, ALL_DRAW))),
        Mistake(*NO_FENCE, (TOO_EARLY,)),
        Mistake(*TICKETS, (((ONE_DRAWS, ALL_DRAW), ("cuda.gridDim.x - 1", "cuda.gridsize(1) - 1")),)),
        Mistake(*WITHOUT_ATOMIC, (("cuda.atomic.add(mine, values[i], 1)", "mine[values[i]] += 1"),)),
        Mistake(
            *NO_ORDER,
            ((DRAW, "tickets[0] == cuda.gridDim.x - 1\n        tickets[0] += 1"), (FENCE, "pass"),
             (LEAVE, "parts[0, t] += mine[t]"), ("== cuda.gridDim.x - 1", ">= cuda.gridDim.x - 2")),
        ),
        Mistake(
            "the last of equals",
            "Of values that occur equally often the smallest is asked for. Go through the bins from 0 on, and take one "
            "only if it has more.",
            (("mine[k] > mine", "mine[k] >= mine"), (("best = 0", "best = 63"), ("range(1, 64)", "range(63)"))),
        ),
        Mistake(
            "how often, not what",
            "That is the count. Its bin is asked for: keep the two together while you compare.",
            (("out[0] = best", "out[0] = mine[best]"),),
        ),
        Mistake(
            "a bin is left out of the search",
            "The first or the last bin never wins: there are 64, from 0 to 63, and range(64) goes over all of them.",
            (("range(1, 64)", "range(1, 63)"), ("best = 0\n", "best = 1\n")),
        ),
        Mistake(
            "another value than the most frequent one",
            "That one is not the most frequent. Count all values, up to values.size; add up the counts of all blocks, "
            "each once, from 0 on; and keep the bin of the greatest.",
            (("(1), values.size", "(1), min(values.size, 512)"), ("mine[t] += parts", "mine[t] = parts"),
             ("range(cuda.gridDim.x)", "range(1)"),
             ("(1), values.size", "(1), min(values.size, 2000)"), ("gridsize(1))", "gridsize(1) * 2)"),
             ("range(cuda.gridDim.x)", "range(1, cuda.gridDim.x)"), ("mine[k] >", "mine[k] <")),
        ),
    ),
)  # fmt: skip
