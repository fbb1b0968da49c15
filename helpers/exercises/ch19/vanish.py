"""By how much a stack of plain layers shrinks a gradient, from the variance of its first weights."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake

# name, taps of a filter, variance of a weight, layers
STACKS = (
    ("no layer at all", 72, 1 / 216, 0),
    ("one layer as PyTorch draws it", 72, 1 / 216, 1),
    ("24 layers as PyTorch draws them", 72, 1 / 216, 24),
    ("24 layers of He's weights", 72, 2 / 72, 24),
    ("weights that are too large", 8, 1.0, 6),
    ("three layers of 9 taps", 9, 0.125, 3),
    ("many taps, small weights", 576, 1 / 2304, 2),
)


def _surviving(taps: int, variance: float, layers: int) -> float:
    return math.sqrt(taps * variance / 2) ** layers


SHARE = "share = taps * variance / 2"
EXERCISE = Exercise(
    key="ch19.vanish",
    title="what a stack of layers leaves of a gradient",
    language="python",
    name="surviving",
    cases=lambda: [Case(name, tuple(given), expected=_surviving(*given)) for name, *given in STACKS],
    hints=(
        "Follow the mean square of the gradient through one layer. What does the sum over the taps do to it? And what "
        "does the ReLU do?",
        "A sum of `taps` terms has `taps` times the variance of one term. The ReLU stops half of the values. The size "
        "is the root of the mean square.",
        "share = taps * variance / 2 is the factor of the mean square for a layer; return math.sqrt(share) ** layers.",
    ),
    solution="""
import math


def surviving(taps, variance, layers):
    share = taps * variance / 2
    return math.sqrt(share) ** layers
""",
    why="Every layer multiplies the size of the gradient by the same factor, so that of a stack is a power of it. "
    "A power of anything but 1 vanishes or explodes. He's variance, 2 / taps, is the one for which the factor is "
    "exactly 1.",
    stretch="a residual layer returns x + y. If the gradients through both ways are independent of one another, what "
    "is the factor of a layer then, and can it vanish?",
    mistakes=(
        Mistake(
            "the square in place of the size",
            "taps * variance / 2 is the factor of the mean square. The size of the gradient changes by its root.",
            (("math.sqrt(share)", "share"), (("math.sqrt(share)", "share"), (SHARE, "share = taps * variance"))),
        ),
        Mistake(
            "the ReLU is left out",
            "The ReLU lets about half of the values through, so the mean square is halved as well.",
            ((SHARE, "share = taps * variance"),),
        ),
        Mistake(
            "the ReLU halves the size",
            "Half of the values are stopped. That halves the mean square, and so it divides the size by the root of 2.",
            (("math.sqrt(share)", "(math.sqrt(taps * variance) / 2)"),),
        ),
        Mistake(
            "only one layer",
            "Each layer multiplies by the factor once more, so that of a stack is a power.",
            ((" ** layers", ""),),
        ),
        Mistake(
            "the factor is multiplied by the layers",
            "The layers come one after the other, and each multiplies what the one before has left. That is a power, "
            "and no product with the number of layers.",
            (("math.sqrt(share) ** layers", "math.sqrt(share) * layers"),
             ("math.sqrt(share) ** layers", "1 - (1 - math.sqrt(share)) * layers")),
        ),
        Mistake(
            "the taps are left out",
            "A gradient is a sum over as many terms as a filter has taps, and its variance is that many times larger.",
            ((SHARE, "share = variance / 2"),),
        ),
        Mistake(
            "the variance taken for the size of a weight",
            "The variance of a weight is its mean square already. So it enters once, and not squared.",
            ((SHARE, "share = taps * variance ** 2 / 2"),),
        ),
    ),
)  # fmt: skip
