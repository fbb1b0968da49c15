from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.exercises.ch07.budgets import BLOCK, WARP, a_row


def _case(rows: int, n: int, *, below_zero: bool = False, all_lanes: bool = False) -> Case:
    x = numbers((rows, n), seed=n)
    x = -np.abs(x) - 1 if below_zero else x
    at = np.random.default_rng(n + 1).integers(0, n, rows)  # where the greatest of each row stands, each another
    at[0], at = n - 1, np.arange(n) if all_lanes else at
    greatest = 9 + np.arange(rows)
    x[np.arange(rows), at] = -1 / greatest if below_zero else greatest
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}" + (", all below zero" if below_zero else "")
    return Case(name, (x, Out(x.max(axis=1)), np.int32(n)), (rows,), (BLOCK,))


def cases() -> list[Case]:
    return [
        _case(1, 1, below_zero=True),
        _case(3, 31),
        _case(5, 97, below_zero=True),
        _case(2, 128),
        _case(4, 1021),
        _case(32, 32, all_lanes=True),
    ]


def measured() -> Case:
    return _case(4, 4096)


MEASURES = {
    "barriers of a warp, per row": a_row("synchronisations", BLOCK // WARP),
    "shared requests per row": a_row("shared_requests"),
    "load requests for a row of 4,096": a_row("global_load_requests"),
    "sectors loaded for a row of 4,096": a_row("global_load_sectors"),
}
