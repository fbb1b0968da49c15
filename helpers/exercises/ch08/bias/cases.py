from __future__ import annotations

from helpers.checking.exercise import Case, Out, cover, numbers
from helpers.checking.measures import total

BLOCK, EACH = 128, 8


def _case(rows: int, columns: int) -> Case:
    x, bias = numbers((rows, columns), seed=rows), numbers(columns, seed=columns + 1)
    grid = (cover(columns, BLOCK), cover(rows, EACH))
    return Case(f"{rows} × {columns}", (x, bias, Out(x + bias), rows, columns), grid, (BLOCK,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (8, 128), (9, 33), (16, 100), (7, 257), (23, 31))]


def measured() -> Case:
    return _case(64, 256)


MEASURES = {
    "load requests for 64 × 256 floats": total("global_load_requests"),
    "warp instructions for 64 × 256 floats": total("instructions"),
}
