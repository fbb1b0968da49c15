"""The loss of the best discriminator against any generator, for a handful of possible images."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake

# name, how often each image occurs among the real ones, and how often the generator makes it
GAMES = (
    ("a perfect generator, one image", [1.0], [1.0]),
    ("a perfect generator, three images", [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]),
    ("nothing in common", [1.0, 0.0], [0.0, 1.0]),
    ("a collapsed generator", [0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0]),
    ("one kind of image is missing", [0.5, 0.25, 0.25], [0.5, 0.5, 0.0]),
    ("an image that neither makes", [0.5, 0.5, 0.0], [0.75, 0.25, 0.0]),
    ("three times as often, and a third", [0.75, 0.25], [0.25, 0.75]),
)


def _best_loss(real: list[float], made: list[float]) -> float:
    loss = 0.0
    for p, q in zip(real, made, strict=True):
        loss -= (p * math.log(p / (p + q)) if p else 0) + (q * math.log(q / (p + q)) if q else 0)
    return loss


REAL = "loss -= p * math.log(p / (p + q))"
MADE = "loss -= q * math.log(q / (p + q))"
EXERCISE = Exercise(
    key="ch21.game",
    title="the loss of the best discriminator",
    language="python",
    name="best_loss",
    cases=lambda: [Case(name, tuple(given), expected=_best_loss(*given)) for name, *given in GAMES],
    tolerance=1e-9,
    hints=(
        "Take one image. What does the best D answer, and what do its real copies and its generated ones cost?",
        "The best answer is d = p / (p + q), and then 1 - d is q / (p + q). Each of the two logarithms is weighted: by "
        "p, and by q.",
        "if p > 0: loss -= p * math.log(p / (p + q)), and the same for q. Where p is 0 there is nothing to pay.",
    ),
    solution="""
import math


def best_loss(real, made):
    loss = 0.0
    for p, q in zip(real, made):
        if p > 0:
            loss -= p * math.log(p / (p + q))
        if q > 0:
            loss -= q * math.log(q / (p + q))
    return loss
""",
    why="Where p equals q everywhere, both logarithms are log ½, and the loss is 2 log 2. Where no image belongs to "
    "both sides, each is log 1 = 0. In between, the loss says how much the two sides overlap. So the best D is a "
    "measure of the distance between them, called the Jensen–Shannon divergence (2 log 2 less the loss, halved).",
    stretch="move a generator that makes only image 0 to one that makes only image 1, and let image 7 be the real one. "
    "What does the loss say on the way? Why is that a difficulty for G?",
    mistakes=(
        Mistake(
            "the logarithm of 0",
            "An image that occurs on one side only is 0 on the other. There is nothing to pay for it there, so leave "
            "that term out.",
            (("if p > 0:", "if p >= 0:"), ("if q > 0:", "if q >= 0:")),
        ),
        Mistake(
            "the generated images are left out",
            "D pays for both: for real images −log d, and for generated ones −log(1 − d).",
            ((f"        if q > 0:\n            {MADE}\n", ""),),
        ),
        Mistake(
            "the real images are left out",
            "D pays for both: for real images −log d, and for generated ones −log(1 − d).",
            ((f"        if p > 0:\n            {REAL}\n", ""),),
        ),
        Mistake(
            "D always says one half",
            "One half is the best answer only where an image is as frequent on both sides. The best answer is "
            "p / (p + q).",
            ((("math.log(p / (p + q))", "math.log(0.5)"), ("math.log(q / (p + q))", "math.log(0.5)")),),
        ),
        Mistake(
            "the two sides are averaged",
            "The loss of D is the sum of the two means in this chapter, and not their half.",
            (("return loss", "return loss / 2"),),
        ),
        Mistake(
            "images are not weighted",
            "An image that occurs often costs often: multiply its logarithm by p, or by q.",
            (((REAL, "loss -= math.log(p / (p + q))"), (MADE, "loss -= math.log(q / (p + q))")),),
        ),
        Mistake(
            "the sign",
            "A logarithm of a probability is negative, and a loss is not: subtract.",
            ((("loss -= p", "loss += p"), ("loss -= q", "loss += q")),),
        ),
        Mistake(
            "another logarithm",
            "log is the natural logarithm here, as it is in PyTorch.",
            ((("math.log(p /", "math.log2(p /"), ("math.log(q /", "math.log2(q /")),),
        ),
    ),
)  # fmt: skip
