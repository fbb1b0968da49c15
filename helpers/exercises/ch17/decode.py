"""The second half of a decoding step: parts of one query's attention, from several blocks, made into its output."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers
from helpers.checking.measures import sectors_per_request

BLOCK = 64
FIRST = (
    "largest = m[head, 0]\n        for part in range(1, m.shape[1]):\n            largest = max(largest, m[head, part])"
)
WEIGHT = "weight = math.exp(m[head, part] - largest)"


def _case(heads: int, parts: int, width: int) -> Case:
    dice = np.random.default_rng(heads + parts)
    m = (16 * numbers((heads, parts), seed=heads + parts)).astype(np.float32)
    l = dice.integers(4, 64, (heads, parts)).astype(np.float32) / 4  # noqa: E741 - its name in the chapter
    o = numbers((heads, parts, width), seed=parts)
    wide = m.astype(np.float64)
    weight = np.exp(wide - wide.max(axis=1, keepdims=True))
    out = (weight[:, :, None] * o).sum(axis=1) / (weight * l).sum(axis=1)[:, None]
    name = f"heads: {heads}, parts: {parts}, width {width}"
    return Case(name, (m, l, o, Out(out.astype(np.float32))), (heads,), (BLOCK,))


EXERCISE = Exercise(
    key="ch17.decode",
    title="join the parts of a decoding step, in Numba",
    language="numba",
    name="decode",
    cases=lambda: [_case(*each) for each in ((1, 1, 1), (1, 2, 33), (3, 5, 7), (2, 8, 64), (7, 3, 32))],
    measured=lambda: _case(8, 16, 64),
    tolerance=1e-4,
    budgets=(
        Budget(
            "sectors per load request",
            sectors_per_request("read"),
            2.5,
            "Lane d takes element d of each part's o, so that a request brings 4 full sectors; m and l are one each.",
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
        "This is joining again, with as many parts as there are. From which maximum are all of them measured?",
        "Find the largest m of the head first. Then each part counts with the weight exp(m[head, part] - largest), "
        "in the sum of l and in that of o.",
        "out[head, d] = sum of weight * o[head, part, d], divided by the sum of weight * l[head, part].",
    ),
    solution=f"""
import math
import numpy as np

@cuda.jit
def decode(m, l, o, out):
    head = cuda.blockIdx.x
    d = cuda.threadIdx.x
    if d < o.shape[2]:
        {FIRST}
        total = np.float32(0)
        gathered = np.float32(0)
        for part in range(m.shape[1]):
            {WEIGHT}
            total += weight * l[head, part]
            gathered += weight * o[head, part, d]
        out[head, d] = gathered / total
""",
    why="A part is small: two numbers and one output for each split. So the second kernel costs little, and the first "
    "one may use as many blocks as the GPU has room for, although there is a single query.",
    stretch="do it in one pass over the parts, as in exercise 2. Is that worth it for a handful of parts?",
    equivalent=(
        (
            ("for part in range(1, m.shape[1]):", "for part in range(0, m.shape[1]):"),
            "the first part is compared with itself",
        ),
    ),
    mistakes=(
        Mistake(
            "all parts count alike",
            "Each part is measured from its own maximum. Its weight is exp(m[head, part] - largest).",
            ((WEIGHT, "weight = np.float32(1)"),),
        ),
        Mistake(
            "no maximum is subtracted",
            "exp(m) overflows for large scores. Measure from the largest m of the head.",
            ((WEIGHT, "weight = math.exp(m[head, part])"),),
        ),
        Mistake(
            "the wrong sign",
            "The weight is exp(m[head, part] - largest), at most 1.",
            ((WEIGHT, "weight = math.exp(largest - m[head, part])"),),
        ),
        Mistake(
            "l is not weighted",
            "The sums l are measured from the parts' maxima, too: they need the same weights as o.",
            (("weight * l[head, part]", "l[head, part]"),),
        ),
        Mistake(
            "the parts' outputs are divided too early",
            "o holds sums that are not divided yet. Add all of them, and divide once by the sum of all l.",
            (("weight * o[head, part, d]", "weight * o[head, part, d] / l[head, part]"),),
        ),
        Mistake(
            "not divided",
            "The weighted sum has to be divided by the sum of the weights, total.",
            ((" / total", ""),),
        ),
        Mistake(
            "one part is left out",
            "All parts count, from 0 to m.shape[1] - 1.",
            (("for part in range(m.shape[1])", "for part in range(1, m.shape[1])"),
             ("for part in range(m.shape[1])", "for part in range(m.shape[1] - 1)")),
        ),
        Mistake(
            "no guard",
            "A block has 64 threads, and a head `width` elements. Whoever has no element must not store one.",
            (("d < o.shape[2]", "d <= o.shape[2]"), ("d < o.shape[2]", "True")),
        ),
        Mistake(
            "the maximum of the first part",
            "Another part may hold the larger score, and then exp overflows. Take the largest m of all parts.",
            ((FIRST, "largest = m[head, 0]"),),
        ),
    ),
)  # fmt: skip
