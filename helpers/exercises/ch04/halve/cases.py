from __future__ import annotations

from helpers.checking.exercise import Case, Out, cover, numbers, plural

TILE = (32, 8)


def _case(rows: int, columns: int) -> Case:
    x = numbers((rows, columns), seed=rows)
    longest = max(rows, columns)  # so that both ways of reading cuda.grid(2) reach every element
    return Case(
        f"{plural(rows, 'row')} × {plural(columns, 'column')}",
        (x, Out(x / 2)),
        (cover(longest, TILE[0]), cover(longest, TILE[1])),
        TILE,
    )


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64))]


def measured() -> Case:
    return _case(64, 64)
