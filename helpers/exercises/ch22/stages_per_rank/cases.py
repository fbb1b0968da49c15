from __future__ import annotations

from helpers.checking.exercise import Case

ROWS = (
    (8, 2, 4, 0.25, 1),
    (8, 2, 4, 0.125, 2),
    (8, 2, 4, 0.18, 2),
    (8, 4, 4, 0.3, 2),
    (12, 2, 2, 0.15, 3),
    (16, 2, 2, 0.15, 4),
    (24, 4, 8, 0.1, 6),
    (8, 4, 4, 0.05, 0),
    (96, 8, 16, 0.1, 4),
    (96, 8, 32, 0.1, 2),
    (5, 1, 1, 0.0, 1),
)


def _case(layers: int, ranks: int, micro_batches: int, limit: float, expected: int) -> Case:
    name = f"{layers} layers, {ranks} ranks, {micro_batches} micro-batches, at most {limit:g}"
    return Case(name, (layers, ranks, micro_batches, limit), expected=expected)


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]
