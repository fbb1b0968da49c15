from __future__ import annotations

from helpers.checking.exercise import Case

GRIDS = ((4, 6, 2), (6, 4, 3), (5, 4, 2), (7, 3, 4), (3, 5, 8), (6, 5, 1))
"""Rows and columns of tiles, and rows in a group; some last groups are lower."""


def _walk(rows: int, columns: int, group: int) -> list[tuple[int, int]]:
    found = []
    for first in range(0, rows, group):
        down = list(range(first, min(first + group, rows)))
        for column in range(columns):
            found += [(row, column) for row in (down[::-1] if column % 2 else down)]
    return found


def cases() -> list[Case]:
    return [
        Case(f"tile {number} of {rows} × {columns}, groups of {group}", (number, rows, columns, group), expected=place)
        for rows, columns, group in GRIDS
        for number, place in enumerate(_walk(rows, columns, group))
        if number % 3 == 0 or number > rows * columns - 3
    ]
