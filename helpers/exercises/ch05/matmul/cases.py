from __future__ import annotations

from helpers.checking.exercise import Case, Out, cover, numbers

TILE = 16
SHAPES = ((1, 1, 1), (1, 13, 1), (16, 32, 16), (13, 13, 37), (37, 17, 13), (5, 40, 33))


def _case(rows: int, inner: int, columns: int) -> Case:
    a, b = numbers((rows, inner), seed=rows), numbers((inner, columns), seed=columns + 50)
    grid = (cover(columns, TILE), cover(rows, TILE))
    name = f"({rows} × {inner}) by ({inner} × {columns})"
    return Case(name, (a, b, Out(a @ b)), grid, (TILE, TILE))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(48, 64, 80)


MEASURES = {
    "sectors loaded for (48 × 64) by (64 × 80)": lambda profile: profile["global_read_sectors"],
}
