"""Two partial results of one softmax, each with a maximum of its own, made into one."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (
    (1, 1, 1, 1),
    (1, 4, 3, 2),
    (5, 3, 7, 4),
    (4, 8, 1, 3),
    (3, 0, 6, 2),
    (6, 5, 0, 3),
)  # queries, keys, keys, width


def _part(queries: int, keys: int, width: int, dice) -> tuple[np.ndarray, ...]:
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


EXERCISE = Exercise(
    key="ch17.join",
    title="join two parts of a softmax",
    language="python",
    name="join",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "Both parts have to be measured from the same maximum before they can be added. Which one?",
        "m = np.maximum(m1, m2). The first part was measured from m1; multiply its l and o by np.exp(m1 - m).",
        "l = np.exp(m1 - m) * l1 + np.exp(m2 - m) * l2, and o in the same way, with factors of shape (queries, 1).",
    ),
    solution="""
import numpy as np

def join(m1, l1, o1, m2, l2, o2):
    m = np.maximum(m1, m2)
    first = np.exp(m1 - m)
    second = np.exp(m2 - m)
    l = first * l1 + second * l2
    o = first[:, None] * o1 + second[:, None] * o2
    return m, l, o
""",
    why="Each part is brought to the common maximum and added. A part without keys, (-inf, 0, 0), changes nothing, so "
    "it is what a sum begins with. The division by l is left to the end: it would be undone at the next joining.",
    stretch="let a part be (L, O) with L = m + log l, and O already divided by l. How are two of these joined?",
    mistakes=(
        Mistake(
            "added as they are",
            "The two sums are measured from different maxima. Bring both to the common one first.",
            ((("first * l1 + second * l2", "l1 + l2"), ("first[:, None] * o1 + second[:, None] * o2", "o1 + o2")),
             ("first * l1 + second * l2", "l1 + l2")),
        ),
        Mistake(
            "the outputs are not brought to the common maximum",
            "l is right. The weighted sums o were measured from the same maxima, and need the same factors.",
            (("first[:, None] * o1 + second[:, None] * o2", "o1 + o2"),),
        ),
        Mistake(
            "the factors are swapped",
            "The first part was measured from m1, so its factor is exp(m1 - m).",
            ((("np.exp(m1 - m)", "np.exp(m2 - m)"), ("second = np.exp(m2 - m)", "second = np.exp(m1 - m)")),),
        ),
        Mistake(
            "the wrong sign",
            "The factor is exp(m1 - m), which is 1 or less: the common maximum is the larger one.",
            ((("np.exp(m1 - m)", "np.exp(m - m1)"), ("np.exp(m2 - m)", "np.exp(m - m2)")),),
        ),
        Mistake(
            "the smaller maximum",
            "Measured from the smaller maximum, exponents are positive and may overflow. Take the larger one.",
            (("np.maximum", "np.minimum"),),
        ),
        Mistake(
            "always from the first part's maximum",
            "The second part may hold the larger score. The common maximum is np.maximum(m1, m2).",
            (("m = np.maximum(m1, m2)", "m = m1"), ("m = np.maximum(m1, m2)", "m = m2")),
        ),
        Mistake(
            "divided by l",
            "o is the sum of weighted values, not yet divided. Leave the division to the end of all joining.",
            (("return m, l, o", "return m, l, o / l[:, None]"),),
        ),
        Mistake(
            "one factor for all queries",
            "Each query has a maximum of its own, so np.maximum, element by element, and no single maximum of all.",
            (("np.maximum(m1, m2)", "np.maximum(m1.max(), m2.max()) + 0 * m1"),),
        ),
    ),
)  # fmt: skip
