"""How open a forget gate has to be, so that a share of the cell state outlasts many steps."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = ((1, 0.5), (1, 0.9), (2, 0.25), (10, 0.5), (60, 0.5), (60, 0.1), (60, 0.99), (1000, 0.5), (3, 0.01))


def _case(steps: int, share: float) -> Case:
    gate = share ** (1 / steps)
    name = f"{share:g} of the state after {steps:,} step{'s' * (steps > 1)}"
    return Case(name, (steps, share), expected=math.log(gate / (1 - gate)))


EXERCISE = Exercise(
    key="ch20.bias",
    title="the bias of a forget gate",
    language="python",
    name="forget_bias",
    cases=lambda: [_case(*row) for row in GIVEN],
    tolerance=1e-6,
    hints=(
        "At each step the state is multiplied by the gate. What is left of 1 after `steps` steps?",
        "gate ** steps has to be `share`, so the gate is share ** (1 / steps). Which bias makes sigmoid(bias) that?",
        "If gate = 1 / (1 + exp(-bias)), then bias = log(gate / (1 - gate)).",
    ),
    solution="""
import math

def forget_bias(steps, share):
    gate = share ** (1 / steps)
    return math.log(gate / (1 - gate))
""",
    why="The gate's factor works once for each step, so it has to be near 1: to keep half over 60 steps it must be "
    "0.9885. The sigmoid reaches that at 4.45, a little above log 60 = 4.09, which keeps 0.37, or 1/e.",
    stretch="what does the bias log(steps) of this section leave of the state after `steps` steps, for many steps?",
    mistakes=(
        Mistake(
            "the share is lost in equal parts",
            "Each step leaves a share of what is there, so the factors multiply: gate ** steps is `share`.",
            (("share ** (1 / steps)", "1 - (1 - share) / steps"), ("share ** (1 / steps)", "share / steps")),
        ),
        Mistake(
            "the gate is no bias",
            "share ** (1 / steps) is the gate. The bias is what the sigmoid makes the gate of: log(gate / (1 - gate)).",
            (("math.log(gate / (1 - gate))", "gate"),),
        ),
        Mistake(
            "the sigmoid forwards",
            "The gate is known and the bias is asked: go backwards through the sigmoid.",
            (("math.log(gate / (1 - gate))", "1 / (1 + math.exp(-gate))"),),
        ),
        Mistake(
            "the sign is turned round",
            "An open gate has a bias above 0: log(gate / (1 - gate)), and not its opposite.",
            (("gate / (1 - gate)", "(1 - gate) / gate"),),
        ),
        Mistake(
            "one step for all",
            "The gate works at each of the steps, so it has to leave more than `share` at one of them.",
            (("share ** (1 / steps)", "share"),),
        ),
        Mistake(
            "the power is not the root",
            "The gate to the power of `steps` is the share, so the gate is the root of it: share ** (1 / steps).",
            (("share ** (1 / steps)", "share ** steps"),),
        ),
        Mistake(
            "the rule of the section",
            "log(steps) leaves about 1/e after that many steps, whatever share you want.",
            (("math.log(gate / (1 - gate))", "math.log(steps)"),),
        ),
    ),
)  # fmt: skip
