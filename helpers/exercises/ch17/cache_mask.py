"""The mask that new queries need after a key-value cache, in a batch that was filled up on the left."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, plural

GIVEN = ((1, 0, (0,)), (1, 4, (0,)), (3, 0, (0, 0)), (2, 3, (0,)), (1, 6, (0, 2, 5)), (3, 4, (1, 4)), (4, 2, (2, 0, 1)))
CAUSAL = "causal = key[None, :] <= query[:, None]"
REAL = "real = key[None, :] >= np.array(filler)[:, None]"
BOTH = "causal[None, None] & real[:, None, None]"
UNFILLED = "causal[None, None] & (real[:, None, None] | True)"


def _case(new: int, cached: int, filler: tuple[int, ...]) -> Case:
    expected = np.zeros((len(filler), 1, new, cached + new), bool)
    for sequence, hidden in enumerate(filler):
        for i in range(new):
            expected[sequence, 0, i, hidden : cached + i + 1] = True
    told = f"{plural(new, 'new position')}, {cached} cached, filled by {', '.join(map(str, filler))}"
    return Case(told, (new, cached, list(filler)), expected=expected)


EXERCISE = Exercise(
    key="ch17.cache_mask",
    title="a mask for new queries after a cache",
    language="python",
    name="cache_mask",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "New query number i is not at position i. Where does it stand in the sequence, when `cached` positions came "
        "before it?",
        "Its position is cached + i, and it sees the keys up to that one. In sequence b the first filler[b] keys are "
        "no letters, and nobody sees them.",
        "causal = key <= query has the shape (new, keys), real = key >= filler the shape (batch, keys). "
        "Both together: causal[None, None] & real[:, None, None].",
    ),
    solution=f"""
import numpy as np

def cache_mask(new, cached, filler):
    query = cached + np.arange(new)
    key = np.arange(cached + new)
    {CAUSAL}
    {REAL}
    return {BOTH}
""",
    why="Queries and keys are compared by their positions in the sequence, so the triangle ends in the lower right "
    "corner. is_causal=True draws it from the upper left corner, which is the same only where nothing is cached. The "
    "second axis has length 1, because all heads share a mask; it is broadcast. In a boolean mask of "
    "scaled_dot_product_attention True means that a key takes part.",
    stretch="torch.nn.attention.bias.causal_lower_right(new, cached + new) makes the triangle without an array. Which "
    "of the cases can it not express?",
    mistakes=(
        Mistake(
            "the triangle starts in the upper left corner",
            "That is what is_causal=True does: query i then sees the keys 0 to i, and little of the cache. Its "
            "position is cached + i.",
            (("cached + np.arange(new)", "np.arange(new)"),
             (("cached + np.arange(new)", "np.arange(new)"), (BOTH, UNFILLED))),
        ),
        Mistake(
            "True for what is hidden",
            "In scaled_dot_product_attention True means that the key takes part. (nn.MultiheadAttention has it the "
            "other way round.)",
            ((BOTH, f"~({BOTH})"),),
        ),
        Mistake(
            "the filler is seen",
            "In sequence b the first filler[b] keys are no letters: hide them from every query.",
            ((BOTH, UNFILLED),),
        ),
        Mistake(
            "filled on the right",
            "The filler stands on the left, before the first letter: keys 0 to filler[b] - 1.",
            ((REAL, "real = key[None, :] < (cached + new - np.array(filler))[:, None]"),),
        ),
        Mistake(
            "a query does not see itself",
            "A query sees its own key, too: key <= query.",
            ((CAUSAL, "causal = key[None, :] < query[:, None]"),),
        ),
        Mistake(
            "one key of the filler is left",
            "Of filler[b] = 2 the keys 0 and 1 are hidden, and key 2 is the first letter.",
            ((REAL, "real = key[None, :] >= np.array(filler)[:, None] - 1"),
             (REAL, "real = key[None, :] > np.array(filler)[:, None]")),
        ),
        Mistake(
            "every new query sees all keys",
            "New queries do not see one another's future: query i sees the keys up to its own position.",
            ((CAUSAL, "causal = np.ones((new, cached + new), bool)"),),
        ),
        Mistake(
            "numbers that are added",
            "0 and -inf, to be added to scores, are right for a mask of floats. Here a boolean mask is asked for.",
            ((BOTH, f"np.where({BOTH}, 0.0, -np.inf)"),),
        ),
        Mistake(
            "queries and keys are exchanged",
            "Rows are queries and columns are keys: the shape is (batch, 1, new, cached + new).",
            ((BOTH, f"({BOTH}).swapaxes(2, 3)"),),
        ),
    ),
)  # fmt: skip
