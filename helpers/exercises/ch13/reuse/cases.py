from __future__ import annotations

from helpers.checking.exercise import Case, plural

TILES = ((1, 1, 4), (32, 32, 4), (64, 16, 4), (16, 64, 8), (128, 128, 4), (128, 128, 2), (8, 1, 4))


def _case(rows: int, columns: int, itemsize: int) -> Case:
    name = f"{rows} × {columns} results, {plural(itemsize, 'byte')} an element"
    expected = 2 * rows * columns / (itemsize * (rows + columns))
    return Case(name, (rows, columns, itemsize), expected=expected)


def cases() -> list[Case]:
    return [_case(*tile) for tile in TILES]
