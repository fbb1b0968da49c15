from __future__ import annotations

from helpers.checking.exercise import Case, plural

ROWS = ((8, 4, 1), (8, 4, 3), (10, 4, 0), (10, 4, 2), (10, 4, 3), (5, 4, 2), (5, 4, 3), (3, 8, 1), (3, 8, 5), (1, 1, 0))


def _case(rows: int, ranks: int, rank: int) -> Case:
    length = -(-rows // ranks)
    first = min(rank * length, rows)
    last = min(first + length, rows)
    name = f"{plural(rows, 'row')} on {plural(ranks, 'rank')}, rank {rank}"
    return Case(name, (rows, ranks, rank), expected=(first, last, length - (last - first)))


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]
