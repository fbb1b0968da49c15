from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import loaded_for_needed
from vgpu.tools.steps.dependencies import Chain

BLOCK, ROWS, COLUMNS = 64, 128, 256


def _case(rows: int, columns: int) -> Case:
    x = numbers((rows, columns), seed=rows + columns)
    arguments = (x, Out((x * x).sum(axis=0)), np.int32(rows), np.int32(columns))
    return Case(f"{plural(rows, 'row')} of {columns}", arguments, (cover(columns, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (4, 31), (7, 64), (37, 97), (64, 128), (6, 200))]


def measured() -> Case:
    return _case(ROWS, COLUMNS)


thread_of = thread_1d


def _longest(chain: Chain) -> int:
    """The operations on loaded values, each of which needs the result of the one before: as many as there are."""
    longest: dict[int, int] = {}  # of each value that comes from a load; indices and addresses don't
    for number, link in enumerate(chain.links):
        before = [longest[need] for need in link.needs if need in longest]
        if link.op == "load":
            longest[number] = 0
        elif before and not link.op:
            longest[number] = max(before) + 1
    return max(longest.values(), default=0)


MEASURES = {
    "operations in the longest chain, for 128 rows": _longest,
    "bytes loaded for each byte of x": loaded_for_needed,
}
