from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d

TILE = (16, 8)
SHAPES = ((1, 1), (1, 17), (17, 1), (8, 16), (13, 37), (37, 13), (32, 32))


def _case(rows: int, columns: int) -> Case:
    x, bias = numbers((rows, columns), seed=rows), numbers(columns, seed=99)
    grid = (cover(columns, TILE[0]), cover(rows, TILE[1]))
    arguments = (x, bias, Out(x + bias), np.int32(rows), np.int32(columns))
    return Case(f"{plural(rows, 'row')} × {plural(columns, 'column')}", arguments, grid, TILE)


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


thread_of = thread_1d
