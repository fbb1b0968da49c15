from __future__ import annotations

from helpers.checking.exercise import Case, plural

ROWS = ((1, 5, 0), (8, 2, 0), (8, 2, 1), (12, 4, 3), (10, 4, 0), (10, 4, 2), (3, 4, 1), (1001, 7, 6))  # n, ranks, rank


def _case(elements: int, ranks: int, rank: int) -> Case:
    sizes = [elements // ranks + (chunk < elements % ranks) for chunk in range(ranks)]
    total = sum(sizes[(rank - step) % ranks] + sizes[(rank + 1 - step) % ranks] for step in range(ranks - 1))
    name = f"{plural(elements, 'element')} on {plural(ranks, 'rank')}, rank {rank}"
    return Case(name, (elements, ranks, rank), expected=4 * total)


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]
