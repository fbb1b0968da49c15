"""The largest value and the sum of a softmax, found while each score is read once."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 64, (48, 256)
SHRINK = "total = total * math.exp(largest - now) + math.exp(s - now)"


def _case(length: int, queries: int) -> Case:
    scores = (8 * numbers((length, queries), seed=length + queries)).astype(np.float32)  # beyond what exp can take
    wide = scores.astype(np.float64)
    m = wide.max(axis=0)
    total = np.exp(wide - m).sum(axis=0)
    arguments = (scores, Out(np.stack([m, total]).astype(np.float32)))
    return Case(f"{plural(length, 'key')}, {queries} queries", arguments, (cover(queries, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch17.one_pass",
    title="m and l in one pass, in Numba",
    language="numba",
    name="one_pass",
    cases=lambda: [_case(*each) for each in ((1, 1), (2, 33), (7, 64), (40, 5), (33, 131))],
    measured=lambda: _case(*COUNTED),
    tolerance=1e-4,
    budgets=(
        Budget(
            "times that each score is loaded",
            lambda profile: 32 * profile["global_read_sectors"] / (4 * COUNTED[0] * COUNTED[1]),
            1.05,
            "Each score is needed once: when it comes, both the largest value and the sum can be brought up to date.",
        ),
        Budget(
            "FP64 operations",
            lambda profile: profile["flops_fp64"],
            0,
            "A Python number such as 0.0 makes Numba calculate in float64. Write np.float32(0).",
            "flops_fp64",
        ),
    ),
    hints=(
        "Keep two numbers for each query. What becomes of the sum when a score comes that is larger than all before?",
        "The old sum was measured from `largest`. From a new maximum `now` it is total * math.exp(largest - now).",
        "now = max(largest, s); total = total * math.exp(largest - now) + math.exp(s - now); largest = now. Begin with "
        "the first score, and a sum of 1.",
    ),
    solution=f"""
import math
import numpy as np

@cuda.jit
def one_pass(scores, state):
    query = cuda.grid(1)
    if query < scores.shape[1]:
        largest = scores[0, query]
        total = np.float32(1)
        for key in range(1, scores.shape[0]):
            s = scores[key, query]
            now = max(largest, s)
            {SHRINK}
            largest = now
        state[0, query] = largest
        state[1, query] = total
""",
    why="Whenever the maximum grows, what has been summed is multiplied by exp(old - new), which measures it from the "
    "new maximum. No exponent is ever above 0, so nothing overflows, and no score is needed again.",
    stretch="a score that is no new maximum needs one exponential, not two. Write that as a branch. When does it pay?",
    mistakes=(
        Mistake(
            "the sum is not measured anew",
            "When the maximum grows, all that has been summed was measured from the old one. Multiply it by "
            "exp(old - new).",
            ((SHRINK, "total = total + math.exp(s - now)"),),
        ),
        Mistake(
            "the wrong way round",
            "The factor is exp(old - new), which is 1 or less. exp(new - old) makes the sum larger.",
            (("math.exp(largest - now)", "math.exp(now - largest)"),),
        ),
        Mistake(
            "measured from the old maximum",
            "The new score has to be measured from the new maximum, exp(s - now); else exp may overflow.",
            (("math.exp(s - now)", "math.exp(s - largest)"),),
        ),
        Mistake(
            "no maximum is subtracted",
            "The exponential of a large score is infinite. Subtract the largest score before exp.",
            ((SHRINK, "total = total + math.exp(s)"),),
        ),
        Mistake(
            "the maximum stays as it began",
            "Keep the new maximum: largest = now, after the sum has been brought up to date.",
            (("            largest = now\n", ""),),
        ),
        Mistake(
            "the first score counts twice, or not at all",
            "The first score, measured from itself, is exp(0) = 1: begin the sum with 1, and go on with the second.",
            (("range(1, scores.shape[0])", "range(scores.shape[0])"), ("np.float32(1)", "np.float32(0)")),
        ),
        Mistake(
            "two passes",
            "Right, but each score is loaded twice. Bring the sum up to date whenever a score comes.",
            (((f"            now = max(largest, s)\n            {SHRINK}\n            largest = now\n",
               "            largest = max(largest, s)\n        for key in range(scores.shape[0]):\n"
               "            total += math.exp(scores[key, query] - largest)\n"),
              ("np.float32(1)", "np.float32(0)")),),
        ),
        Mistake(
            "m and l are swapped",
            "Row 0 of the state holds m, the largest score, and row 1 holds l, the sum.",
            (("state[0, query] = largest\n        state[1, query] = total",
              "state[1, query] = largest\n        state[0, query] = total"),),
        ),
        Mistake(
            "double precision has slipped in",
            "A Python number such as 1 or 1.0 makes Numba calculate in float64. Write np.float32(1).",
            (("np.float32(1)", "1.0"),),
        ),
    ),
)  # fmt: skip
