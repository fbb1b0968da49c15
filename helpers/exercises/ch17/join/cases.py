from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case

GIVEN = (
    (1, 1, 1, 1),
    (1, 4, 3, 2),
    (5, 3, 7, 4),
    (4, 8, 1, 3),
    (3, 0, 6, 2),
    (6, 5, 0, 3),
)  # queries, keys, keys, width


def _part(queries: int, keys: int, width: int, dice: np.random.Generator) -> tuple[np.ndarray, ...]:
    """(m, l, o) of some keys; of none, what a sum begins with."""
    if not keys:
        return np.full(queries, -np.inf), np.zeros(queries), np.zeros((queries, width))
    scores, values = dice.normal(0, 3, (queries, keys)), dice.normal(size=(keys, width))
    m = scores.max(axis=1)
    weights = np.exp(scores - m[:, None])
    return m, weights.sum(axis=1), weights @ values


def _case(queries: int, left: int, right: int, width: int) -> Case:
    dice = np.random.default_rng(queries + 10 * left)
    (m1, l1, o1), (m2, l2, o2) = (_part(queries, keys, width, dice) for keys in (left, right))
    m = np.maximum(m1, m2)
    a, b = np.exp(m1 - m), np.exp(m2 - m)
    wanted = (m, a * l1 + b * l2, a[:, None] * o1 + b[:, None] * o2)
    name = f"queries: {queries}, keys: {left} and {right}, width {width}"
    return Case(name, (m1, l1, o1, m2, l2, o2), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
