from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, ROUNDS = 128, 3


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    rows = np.zeros((cover(n, BLOCK), BLOCK), np.float32)
    rows.ravel()[:n] = x
    for _ in range(ROUNDS):
        rows[:, 1:] = (rows[:, 1:] + rows[:, :-1]) / 2
    return Case(plural(n, "element"), (x, Out(rows.ravel()[:n].copy())), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 97, 128, 131, 1000)]
