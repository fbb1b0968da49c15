from __future__ import annotations

from helpers.checking.exercise import Case

SIZES = (
    (1, 1, 1),
    (8, 4, 4),
    (8, 4, 2),
    (8, 2, 4),
    (100, 32, 16),
    (96, 32, 32),
    (50, 16, 64),
    (7, 3, 2),
    (1024, 128, 32),
)


def _tiles(length: int, rows: int, keys: int) -> list[int]:
    visited = masked = 0
    for first in range(0, length, rows):
        last = min(first + rows, length) - 1
        for start in range(0, length, keys):
            if start <= last:
                visited += 1
                masked += min(start + keys, length) - 1 > first
    return [visited, masked]


def _case(length: int, rows: int, keys: int) -> Case:
    name = f"length {length}, tiles of {rows} queries and {keys} keys"
    return Case(name, (length, rows, keys), expected=_tiles(length, rows, keys))


def cases() -> list[Case]:
    return [_case(*row) for row in SIZES]
