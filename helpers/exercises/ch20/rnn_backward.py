"""Backward through the plain cell: the derivative of tanh, from what the forward pass kept."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096
SLOPE = "(np.float32(1) - h[i] * h[i])"
BOTH = "(d_out[i] + d_next[i])"


def _case(n: int) -> Case:
    h = np.tanh(numbers(n, seed=n) / 4).astype(np.float32)
    d_out, d_next = numbers(n, seed=n + 1), numbers(n, seed=n + 2)
    wanted = ((d_out + d_next) * (1 - h * h)).astype(np.float32)
    return Case(plural(n, "hidden unit"), (h, d_out, d_next, Out(wanted)), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch20.rnn_backward",
    title="backward through the plain cell, in Numba",
    language="numba",
    name="rnn_backward",
    cases=lambda: [_case(n) for n in (1, 31, 128, 131, 1000)],
    measured=lambda: _case(COUNTED),
    budgets=(
        Budget(
            "special functions",
            lambda profile: profile["special_functions"],
            0,
            "tanh was calculated in the forward pass, and h is its result: there is no need for another one.",
            "special_functions",
        ),
        Budget(
            "FP64 operations",
            lambda profile: profile["flops_fp64"],
            0,
            "A Python number such as 1.0 makes Numba calculate in float64. Write np.float32(1).",
            "flops_fp64",
        ),
        Budget(
            "bytes of all sectors for each unit",
            lambda profile: 32 * (profile["global_read_sectors"] + profile["global_write_sectors"]) / COUNTED,
            16.5,
            "Three floats come and one goes, if neighbouring lanes take neighbouring elements.",
        ),
    ),
    tolerance=1e-4,
    hints=(
        "The hidden state of a step is used twice: by the layer above, and by the next step. How do two gradients of "
        "one value combine?",
        "The derivative of tanh(z) is 1 - tanh(z)², and tanh(z) is h.",
        "d_z[i] = (d_out[i] + d_next[i]) * (np.float32(1) - h[i] * h[i]).",
    ),
    solution="""
import numpy as np

@cuda.jit
def rnn_backward(h, d_out, d_next, d_z):
    i = cuda.grid(1)
    if i < h.size:
        d_z[i] = (d_out[i] + d_next[i]) * (np.float32(1) - h[i] * h[i])
""",
    why="The derivative of tanh needs nothing but tanh's own result, which is the hidden state, so nothing else has to "
    "be kept from the forward pass. The factor 1 - h² is never above 1: once for each step the gradient is multiplied "
    "by it, and that is one half of why it vanishes.",
    stretch="which factor takes the place of 1 - h² when the cell uses ReLU?",
    mistakes=(
        Mistake(
            "the gradient from the next step is left out",
            "The hidden state also goes into the next step. Its gradient is the sum of both: d_out + d_next.",
            ((BOTH, "d_out[i]"),),
        ),
        Mistake(
            "the gradient from above is left out",
            "The layer above, or the loss, uses this hidden state too. The gradient is the sum d_out + d_next.",
            ((BOTH, "d_next[i]"),),
        ),
        Mistake(
            "the two gradients are multiplied",
            "A value that is used twice gets the sum of the two gradients.",
            ((BOTH, "d_out[i] * d_next[i]"),),
        ),
        Mistake(
            "h instead of its square",
            "The derivative of tanh is 1 - tanh²: the hidden state is squared.",
            (("h[i] * h[i]", "h[i]"),),
        ),
        Mistake(
            "the derivative of the sigmoid",
            "h · (1 - h) belongs to the sigmoid. The derivative of tanh is 1 - h².",
            ((SLOPE, "h[i] * (np.float32(1) - h[i])"),),
        ),
        Mistake(
            "no derivative",
            "The gradient has passed the addition, but not tanh: multiply by 1 - h².",
            ((f" * {SLOPE}", ""), ((f" * {SLOPE}", ""), (BOTH, "d_out[i]"))),
        ),
        Mistake(
            "tanh is applied to h",
            "h is tanh(z) already. 1 - h² is the derivative; another tanh is wrong.",
            ((("import numpy as np", "import math\nimport numpy as np"),
              (SLOPE, "(np.float32(1) - math.tanh(h[i]) * math.tanh(h[i]))")),),
        ),
        Mistake(
            "double precision has slipped in",
            "A Python number such as 1 or 1.0 makes Numba calculate in float64. Write np.float32(1).",
            (("np.float32(1)", "1.0"), ("np.float32(1)", "1")),
        ),
    ),
)  # fmt: skip
