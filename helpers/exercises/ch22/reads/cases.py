from __future__ import annotations

from helpers.checking.exercise import Case, plural

ROWS = (
    (8, 4, 2, 0),
    (8, 4, 2, 1),
    (8, 2, 4, 1),
    (8, 2, 4, 3),
    (12, 4, 3, 1),
    (10, 4, 3, 1),
    (10, 4, 3, 2),
    (7, 3, 2, 1),
    (5, 8, 2, 0),
    (3, 2, 8, 2),
    (3, 2, 8, 6),
    (9, 3, 3, 1),
)


def _expected(rows: int, old: int, new: int, rank: int) -> list[tuple[int, int, int]]:
    """Row by row: who had it, for those rows that the new rank has."""
    length_old, length_new = (rows + old - 1) // old, (rows + new - 1) // new
    found: list[tuple[int, int, int]] = []
    for row in range(rows):
        if row // length_new != rank:
            continue
        source = row // length_old
        if found and found[-1][0] == source:
            found[-1] = (source, found[-1][1], row + 1)
        else:
            found.append((source, row, row + 1))
    return found


def _case(rows: int, old: int, new: int, rank: int) -> Case:
    name = f"{plural(rows, 'row')}, {old} old ranks, {new} new ones, rank {rank}"
    return Case(name, (rows, old, new, rank), expected=_expected(rows, old, new, rank))


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]
