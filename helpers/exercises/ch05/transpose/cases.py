from __future__ import annotations

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import sectors_per_request

TILE = 32
SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64), (33, 95))


def _case(rows: int, columns: int) -> Case:
    x = numbers((rows, columns), seed=rows)
    grid = (cover(columns, TILE), cover(rows, TILE))
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}"
    return Case(name, (x, Out(x.T.copy())), grid, (TILE, TILE))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(96, 160)


MEASURES = {
    "sectors per load request": sectors_per_request("read"),
    "sectors per store request": sectors_per_request("write"),
}
