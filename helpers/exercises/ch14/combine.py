"""Online softmax: maximum and sum of a row from those of its pieces."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, plural

BLOCK, COUNTED = 64, (256, 8)
MERGE = "total = total * math.exp(largest - new) + l[row, piece] * math.exp(m[row, piece] - new)"


def _case(rows: int, pieces: int, low: float = -200, high: float = 200) -> Case:
    dice = np.random.default_rng(rows + pieces)
    m = (dice.integers(low * 4, high * 4, (rows, pieces)) / 4).astype(np.float32)
    m[:, -1] = m[:, 0] + np.float32(0.5)  # near one another, so that both count
    sums = (1 + dice.integers(0, 40, (rows, pieces)) / 4).astype(np.float32)
    largest = m.max(axis=1)
    total = (sums * np.exp(m.astype(np.float64) - largest[:, None])).sum(axis=1).astype(np.float32)
    name = f"{plural(rows, 'row')} of {plural(pieces, 'piece')}"
    return Case(name, (m, sums, Out(np.stack([largest, total], axis=1))), (cover(rows, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch14.combine",
    title="combine the pieces of a softmax, in Numba",
    language="numba",
    name="combine",
    cases=lambda: [_case(1, 1), _case(1, 2), _case(33, 5, -200, -100), _case(64, 3), _case(130, 7)],
    measured=lambda: _case(*COUNTED),
    budgets=(
        Budget(
            "FP64 operations",
            lambda profile: profile["flops_fp64"],
            0,
            "A Python number such as 0.0 makes Numba calculate in float64. Write np.float32(0).",
            "flops_fp64",
        ),
        Budget(
            "load requests of a warp for each piece",
            lambda profile: profile["global_read_requests"] / profile.counters.warps / COUNTED[1],
            2,
            "One m and one l: go through the pieces once.",
        ),
    ),
    tolerance=1e-4,
    hints=(
        "A sum l belongs to its maximum m: it is a sum of exp(x - m). What must l be multiplied by, if the maximum "
        "becomes "
        "another one?",
        "For two pieces: new = max(m1, m2), and each l is multiplied by exp(its m - new) before they are added.",
        f"new = max(largest, m[row, piece]); {MERGE}; largest = new.",
    ),
    solution=f"""
import math
import numpy as np

@cuda.jit
def combine(m, l, out):
    row = cuda.grid(1)
    if row < m.shape[0]:
        largest = m[row, 0]
        total = l[row, 0]
        for piece in range(1, m.shape[1]):
            new = max(largest, m[row, piece])
            {MERGE}
            largest = new
        out[row, 0] = largest
        out[row, 1] = total
""",
    why="exp(x - m1) · exp(m1 - new) = exp(x - new): a sum that was taken with one maximum is brought to another by "
    "one "
    "factor. The rule does not care in which order pieces are combined, so threads, warps, blocks and tiles may all "
    "combine theirs with it. That is what lets FlashAttention go through a row in tiles.",
    stretch="what is the pair (m, l) of an empty piece, so that combining it with another changes nothing?",
    mistakes=(
        Mistake(
            "the sums are added as they are",
            "Each l was summed with its own maximum. Bring both to the common maximum before you add them.",
            ((MERGE, "total = total + l[row, piece]"),),
        ),
        Mistake(
            "only the new piece is brought to the maximum",
            "The running total belongs to the old maximum: it has to be multiplied by exp(old - new) too.",
            (("total * math.exp(largest - new)", "total"),),
        ),
        Mistake(
            "only the running total is brought to the maximum",
            "The new piece's l belongs to its own maximum m: multiply it by exp(m - new).",
            (("l[row, piece] * math.exp(m[row, piece] - new)", "l[row, piece]"),),
        ),
        Mistake(
            "the sign of the exponent",
            "The factor is exp(m - new), which is never above 1. The other way round it overflows.",
            (("math.exp(largest - new)", "math.exp(new - largest)"),
             ("math.exp(m[row, piece] - new)", "math.exp(new - m[row, piece])")),
        ),
        Mistake(
            "the maximum starts at 0",
            "Where all maxima are negative, 0 is none of them: begin with the first piece, or with minus infinity.",
            (("largest = m[row, 0]\n        total = l[row, 0]\n        for piece in range(1, ",
              "largest = np.float32(0)\n        total = np.float32(0)\n        for piece in range(0, "),),
        ),
        Mistake(
            "the maximum is not kept",
            "After each piece the running maximum is the new one.",
            (("            largest = new\n", ""),),
        ),
        Mistake(
            "exponentials without a maximum",
            "exp(m) overflows for m above 88. Take exponentials of differences only.",
            ((MERGE, "total = (total * math.exp(largest) + l[row, piece] * math.exp(m[row, piece])) / math.exp(new)"),),
        ),
        Mistake(
            "the last piece is left out",
            "Go through all pieces of the row: the last one counts as well.",
            (("range(1, m.shape[1])", "range(1, m.shape[1] - 1)"),),
        ),
    ),
)  # fmt: skip
