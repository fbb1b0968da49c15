from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import load_requests_for_needed, sectors_per_request

TILE = (32, 8)
SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64))


def _case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows)
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}"
    longest = max(rows, columns)  # so that both ways of reading cuda.grid(2) reach every element
    return Case(name, (x, Out(np.fliplr(x).copy())), (cover(longest, TILE[0]), cover(longest, TILE[1])), TILE)


def drawn(dice: np.random.Generator) -> list[Case]:
    small, large = (int(n) for n in (*dice.integers(2, 31, 1), *dice.integers(33, 90, 1)))
    shapes = [(small, large), (large, small), (1, large), (int(dice.integers(40, 70)), int(dice.integers(160, 250)))]
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in shapes]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(40, 200)


MEASURES = {
    "sectors per load request": sectors_per_request("read", most=2),
    "sectors per store request": sectors_per_request("write", most=2),
    "load requests per 32 pixels": load_requests_for_needed,
}
