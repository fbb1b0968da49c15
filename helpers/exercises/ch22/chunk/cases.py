from __future__ import annotations

from helpers.checking.exercise import Case, plural

ROWS = ((2, 0, 0), (2, 1, 0), (4, 0, 0), (4, 1, 2), (4, 3, 1), (5, 0, 3), (7, 6, 5), (8, 2, 6))  # ranks, rank, step


def _case(ranks: int, rank: int, step: int) -> Case:
    expected = ((rank - step) % ranks, (rank - step - 1) % ranks)
    return Case(f"{plural(ranks, 'rank')}, rank {rank}, step {step}", (rank, step, ranks), expected=expected)


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]
