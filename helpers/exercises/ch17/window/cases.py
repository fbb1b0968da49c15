from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case

GIVEN = (  # queries of the tile from which on, keys of the tile from which on, width, window
    (0, 1, 0, 1, 1, 1),
    (0, 4, 0, 4, 2, 2),
    (4, 4, 0, 4, 3, 3),  # some queries see nothing yet
    (4, 4, 4, 4, 3, 3),
    (6, 5, 3, 4, 4, 6),
    (8, 3, 8, 8, 2, 5),
    (9, 4, 0, 8, 5, 1),  # nobody sees anything yet
)


def _state(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, rows: np.ndarray, keys: np.ndarray, window: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(m, l, o) of queries after all these keys."""
    s = query @ key.T / np.sqrt(query.shape[1])
    s[(keys[None, :] > rows[:, None]) | (keys[None, :] <= rows[:, None] - window)] = -np.inf
    m = s.max(axis=1, initial=-np.inf)
    p = np.exp(s - np.where(np.isneginf(m), 0, m)[:, None])
    return m, p.sum(axis=1), p @ value


def _case(first: int, count: int, start: int, more: int, width: int, window: int) -> Case:
    dice = np.random.default_rng(first + 10 * start + window)
    query, (key, value) = 2 * dice.normal(size=(count, width)), dice.normal(size=(2, start + more, width))
    rows, keys = np.arange(first, first + count), np.arange(start + more)
    before = _state(query, key[:start], value[:start], rows, keys[:start], window)
    expected = _state(query, key, value, rows, keys, window)
    name = f"queries {first} to {first + count - 1}, keys {start} to {start + more - 1}, window {window}"
    return Case(name, (*before, query, key[start:], value[start:], rows, keys[start:], window), expected=expected)


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
