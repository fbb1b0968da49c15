"""The cases of chapter 02's exercises, and what answers to them give away."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.vgpu.base.errors import OutOfBounds

TILE = (16, 8)
SHAPES = ((1, 1), (1, 17), (17, 1), (8, 16), (13, 37), (37, 13), (32, 32))
GRID, BLOCK = 2, 64


def blocks_cases() -> list[Case]:
    pairs = ((1, 128), (127, 128), (128, 128), (129, 128), (1000, 256), (1024, 256), (7, 32), (10**9, 1024))
    return [Case(f"blocks({n:,}, {t})", (n, t), expected=cover(n, t)) for n, t in pairs]


def bias_case(rows: int, columns: int) -> Case:
    x, bias = numbers((rows, columns), seed=rows), numbers(columns, seed=99)
    grid = (cover(columns, TILE[0]), cover(rows, TILE[1]))
    arguments = (x, bias, Out(x + bias), np.int32(rows), np.int32(columns))
    return Case(f"{plural(rows, 'row')} × {plural(columns, 'column')}", arguments, grid, TILE)


def square_case(n: int) -> Case:
    x = numbers(n, seed=n)
    return Case(f"{plural(n, 'element')}, {GRID * BLOCK} threads", (x, Out(x * x)), (GRID,), (BLOCK,))


def written_once(profile) -> float:
    return profile["global_write_bytes"] / (4 * 4096)


def column_by_column(case: Case) -> np.ndarray:
    x, bias = case.arguments[:2]
    return (x.ravel() + bias[np.arange(x.size) // x.shape[0]]).reshape(x.shape)


def transposed(case: Case) -> np.ndarray:
    out = case.out.expected
    return out.T.reshape(out.shape)


def a_fixed_number(evidence) -> bool:
    """In all sizes just the same elements are written: the first so many."""
    ends = {o.untouched.argmax() for o in evidence.outcomes if not o.ok and o.untouched is not None}
    return len(ends) == 1 and min(ends) > 0 and untouched(lambda i: i >= min(ends))(evidence)


def written(evidence) -> float:
    return next((spent.value for spent in evidence.budgets if spent.label == "stores per element"), 0)


def tall_only(evidence) -> bool:
    """Out of bounds in tall matrices alone: a row was taken to be as long as there are rows."""
    shapes = [o.case.out.expected.shape for o in evidence.outcomes if isinstance(o.error, OutOfBounds)]
    return bool(shapes) and all(rows > columns for rows, columns in shapes)


def not_square(evidence) -> bool:
    """Right for squares; in other shapes a part is never written, and the rest is right."""
    failed = [o for o in evidence.outcomes if not o.ok]
    shapes = [o.case.out.expected.shape for o in failed]
    return known.untouched_somewhere(evidence) and all(rows != columns for rows, columns in shapes)


def bias_by_row(evidence) -> bool:
    """Row r gets bias[r], as far as there are as many: in tall matrices that leads out of the bias."""
    seen = [o for o in evidence.outcomes if np.less_equal(*o.case.out.expected.shape)]
    return any(not o.ok for o in seen) and all(
        o.got is not None
        and np.allclose(o.got, o.case.arguments[0] + o.case.arguments[1][: len(o.got), None], equal_nan=True)
        for o in seen
    )


def untouched(keep):
    """What is written is right, and left out is just what `keep(index)` says of the flat indices."""

    def when(evidence) -> bool:
        failed = [o for o in evidence.outcomes if not o.ok]
        return known.untouched_somewhere(evidence) and all(
            np.array_equal(o.untouched.ravel(), keep(np.arange(o.untouched.size))) for o in failed
        )

    return when
