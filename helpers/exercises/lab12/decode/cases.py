from __future__ import annotations

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Case, Out, cover
from helpers.checking.measures import busiest_for_needed, loaded_for_needed, special_functions
from helpers.exercises.lab12.budgets import ARITHMETIC, GROUP, vectors
from helpers.exercises.lab12.shared import HEAD, attended, given

PAGE, THREADS, STATE, SPARE = 32, 128, HEAD + 2, 3


def _case(lengths: tuple[int, ...], kvs: int, group: int, parts: int, scale: float, seed: int = 1) -> Case:
    """A batch of one query each, whose keys and values lie in pages of a pool; what no position holds is NaN."""
    dice, batch, most = np.random.default_rng(seed), len(lengths), max(lengths)
    q, k, v = given((batch, kvs * group, HEAD), (batch, kvs, most, HEAD), seed)
    used = [cover(length, PAGE) for length in lengths]
    most_pages, pool = max(used) + 1, dice.permutation(sum(used) + SPARE).astype(np.int32)
    table = np.full((batch, most_pages), pool[-1])  # past the last page, one that is free
    pages = np.full((2, pool.size, PAGE, kvs, HEAD), np.nan, np.float32)
    expected = np.zeros((batch, kvs * group, HEAD), np.float32)
    for sequence, length in enumerate(lengths):
        table[sequence, : used[sequence]], pool = np.split(pool, [used[sequence]])
        position = np.arange(length)
        page = table[sequence, position // PAGE]
        for each, rows in zip(pages, (k, v), strict=True):
            each[page, position % PAGE] = rows[sequence, :, :length].swapaxes(0, 1)
        if length:
            heads = q[sequence].reshape(kvs, group, HEAD)
            seen = attended(heads, k[sequence, :, :length], v[sequence, :, :length], scale)
            expected[sequence] = seen.reshape(kvs * group, HEAD)
    states = np.full((batch, kvs * group, parts, STATE), np.nan, np.float32)
    counters, held = np.zeros((batch, kvs), np.int32), np.array(lengths, np.int32)
    arguments = (q, *pages, table, held, states, counters, Out(expected), np.int32(most_pages), np.int32(group))
    name = f"lengths {', '.join(map(str, lengths))}, heads: {kvs * group} on {kvs}, parts: {parts}"
    return Case(name, (*arguments, np.float32(scale)), (parts, kvs, batch), (THREADS,))


def drawn(dice: np.random.Generator) -> list[Case]:
    short = (int(dice.integers(2, 32)), int(dice.integers(33, 64))), 1, int(dice.integers(2, 4)), 2, 0.25
    free = (0, int(dice.integers(65, 200)), int(dice.integers(1, 9))), 2, GROUP, int(dice.integers(3, 6)), 0.125
    long = tuple(int(length) for length in dice.integers(26 * PAGE + 1, 32 * PAGE, 2)), 1, GROUP, 4, 0.25
    return [_case(*each, int(dice.integers(1, 10**6))) for each in (short, free, long)]


SIZES = (
    ((1,), 1, 1, 1, 0.25),
    ((33,), 1, 3, 4, 0.25),
    ((5, 70), 2, 2, 2, 0.125),
    ((96, 0, 200), 1, 4, 4, 0.25),
)


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case((850, 1010), 1, GROUP, 4, 0.25)


def _exponentials_for_scores(profile: Cost) -> float:
    """Special functions of all threads for each score; the vectors of the inputs are mostly keys and values."""
    scores = GROUP * vectors(profile) / 2
    return special_functions(profile, ARITHMETIC * scores) / scores


MEASURES = {
    "bytes loaded per byte needed": loaded_for_needed,
    "special functions per score": _exponentials_for_scores,
    "busiest warp by average": busiest_for_needed,
}
