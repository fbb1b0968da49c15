"""The state of attention after one more tile of keys, where each query sees only the keys of a sliding window."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (  # queries of the tile from which on, keys of the tile from which on, width, window
    (0, 1, 0, 1, 1, 1),
    (0, 4, 0, 4, 2, 2),
    (4, 4, 0, 4, 3, 3),  # some queries see nothing yet
    (4, 4, 4, 4, 3, 3),
    (6, 5, 3, 4, 4, 6),
    (8, 3, 8, 8, 2, 5),
    (9, 4, 0, 8, 5, 1),  # nobody sees anything yet
)
SEEN = "seen = (keys[None, :] <= rows[:, None]) & (keys[None, :] > rows[:, None] - window)"
BASE = "base = np.where(np.isneginf(largest), 0, largest)"


def _state(query, key, value, rows, keys, window):
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


EXERCISE = Exercise(
    key="ch17.window",
    title="one tile under a sliding window",
    language="python",
    name="take_in",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "With window = 3 the query at position 7 sees the keys 5, 6 and 7. Write down for which keys a query sees: "
        "two conditions.",
        "The second condition is keys > rows - window. Then look at a query that has seen nothing so far: m and "
        "largest are both -inf, and -inf - (-inf) is nan.",
        "Measure such a query from 0: base = np.where(np.isneginf(largest), 0, largest), and use base in both "
        "exponentials. What is returned is still largest.",
    ),
    solution=f"""
import numpy as np

def take_in(m, l, o, query, key, value, rows, keys, window):
    s = query @ key.T / np.sqrt(query.shape[1])
    {SEEN}
    s = np.where(seen, s, -np.inf)
    largest = np.maximum(m, s.max(axis=1))
    {BASE}
    shrink = np.exp(m - base)
    p = np.exp(s - base[:, None])
    l = l * shrink + p.sum(axis=1)
    o = o * shrink[:, None] + p @ value
    return largest, l, o
""",
    why="Under a causal mask the first tile holds key 0, which every query sees, so no maximum stays at -inf. A window "
    "ends that: in its first tiles a query may see nothing. Measured from 0, its weights are exp(-inf) = 0, and so is "
    "the factor for its sums, which are 0 as well. Kernels for windows do the same, or begin at the first tile that "
    "some query sees, and even then keep the test.",
    stretch="from which tile of keys on does a block of queries have to begin? Count the bytes that this saves.",
    equivalent=(
        ((BASE, BASE.replace(", 0, ", ", 1, ")), "any finite number will do for a query that has seen nothing"),
    ),
    mistakes=(
        Mistake(
            "the window is left out",
            "A query sees at most `window` keys, itself included. Older ones are hidden, too.",
            ((SEEN, "seen = keys[None, :] <= rows[:, None]"),
             ((SEEN, "seen = keys[None, :] <= rows[:, None]"), (BASE, "base = largest"))),
        ),
        Mistake(
            "a query that has seen nothing",
            "While all scores so far are -inf, m - largest is -inf + inf, which is nan. Measure such a query from 0.",
            ((BASE, "base = largest"),),
        ),
        Mistake(
            "one key too many",
            "With window = 1 a query sees itself alone: keys > rows - window.",
            (("> rows[:, None] - window", ">= rows[:, None] - window"),),
        ),
        Mistake(
            "one key too few",
            "The window counts the query's own key: with window = 2 the query at 7 sees 6 and 7.",
            (("> rows[:, None] - window", "> rows[:, None] - window + 1"),
             ("(keys[None, :] <= rows", "(keys[None, :] < rows")),
        ),
        Mistake(
            "the causal mask is lost",
            "The window limits how far back a query sees. It must still not see keys that come after it.",
            (("(keys[None, :] <= rows[:, None]) & ", ""),),
        ),
        Mistake(
            "the window looks ahead",
            "keys < rows + window are keys after the query. A query sees back to rows - window, without that key.",
            ((SEEN, "seen = (keys[None, :] >= rows[:, None]) & (keys[None, :] < rows[:, None] + window)"),),
        ),
        Mistake(
            "hidden scores are 0",
            "A score of 0 has the weight exp(0 - m), which is not 0. Hidden scores are -inf.",
            (("np.where(seen, s, -np.inf)", "np.where(seen, s, 0)"),),
        ),
        Mistake(
            "the old sums are not shrunk",
            "What was summed before was measured from the old m: multiply it by shrink.",
            (("l * shrink + p", "l + p"), ("o * shrink[:, None] + p", "o + p"),
             (("l * shrink + p", "l + p"), ("o * shrink[:, None] + p", "o + p"))),
        ),
        Mistake(
            "0 is returned as the maximum",
            "Only exponentials are measured from 0. The maximum of nothing stays -inf, or the next tile goes wrong.",
            (("return largest", "return base"),),
        ),
    ),
)  # fmt: skip
