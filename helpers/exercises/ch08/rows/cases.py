from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import total

BLOCK = 128


def _case(rows: int) -> Case:
    # Some rows are empty, most are short, a few are long: what a sparse matrix looks like.
    lengths = np.minimum(np.random.default_rng(rows).geometric(0.08, rows) - 1, 120)
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    x = numbers(max(1, int(first[-1])), seed=rows)
    sums = np.array([x[first[row] : first[row + 1]].sum(dtype=np.float64) for row in range(rows)], np.float32)
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    arguments = (first, x, order, Out(sums), np.int32(rows))
    return Case(plural(rows, "row"), arguments, (cover(rows, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(rows) for rows in (1, 2, 31, 33, 127, 400)]


def measured() -> Case:
    return _case(1024)


thread_of = thread_1d


MEASURES = {
    "warp instructions for 1,024 rows": total("instructions"),
}
