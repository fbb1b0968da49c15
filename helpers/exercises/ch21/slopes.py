"""The four gradients of a GAN that is small enough to be worked out by hand."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake

# name, how many real numbers and latents, then a, b, w, c
GANS = (
    ("one number, one latent", 1, 1.0, 0.0, 0.5, 0.25),
    ("a generator that makes one number", 5, 0.0, 1.5, -1.0, 0.5),
    ("a discriminator that looks at nothing", 4, 1.0, -0.5, 0.0, 0.75),
    ("a sure discriminator", 8, 0.5, -1.0, 2.0, -1.0),
    ("all as usual", 16, 1.25, 0.5, -0.75, 0.25),
)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _case(name, count, a, b, w, c) -> Case:
    dice = np.random.default_rng(count)
    real, z = dice.normal(2, 1, count), dice.normal(0, 1, count)
    fake = a * z + b
    on_real, on_fake = _sigmoid(w * real + c) - 1, _sigmoid(w * fake + c)
    back = (on_fake - 1) * w
    wanted = np.array([(on_real * real + on_fake * fake).mean(), (on_real + on_fake).mean(),
                       (back * z).mean(), back.mean()])  # fmt: skip
    return Case(name, (real, z, a, b, w, c), expected=wanted)


BY_W = "by_w = (on_real * real).mean() + (on_fake * fake).mean()"
BY_C = "by_c = on_real.mean() + on_fake.mean()"
BACK = "back = (on_fake - 1) * w"
EXERCISE = Exercise(
    key="ch21.slopes",
    title="the gradients of a GAN, by hand",
    language="python",
    name="slopes",
    cases=lambda: [_case(*row) for row in GANS],
    hints=(
        "The derivative of the loss with respect to a logit is sigmoid(x) − t, where t is the label. Which label has "
        "each set of numbers, in D's loss and in G's?",
        "For D: the logit of a number v is w * v + c, so multiply the derivative by v for w, and by 1 for c. For G the "
        "label of its numbers is 1, and the way goes on through w to fake, and from there to a and b.",
        "back = (sigmoid(w * fake + c) - 1) * w is what reaches a number that G made; by a it is (back * z).mean(), "
        "and by b back.mean().",
    ),
    solution="""
import numpy as np


def slopes(real, z, a, b, w, c):
    fake = a * z + b
    on_real = 1 / (1 + np.exp(-(w * real + c))) - 1
    on_fake = 1 / (1 + np.exp(-(w * fake + c)))
    by_w = (on_real * real).mean() + (on_fake * fake).mean()
    by_c = on_real.mean() + on_fake.mean()
    back = (on_fake - 1) * w
    return np.array([by_w, by_c, (back * z).mean(), back.mean()])
""",
    why="D's two gradients need the numbers themselves, real and made. G's two need neither real numbers nor D's "
    "labels: all that reaches G is `back`, which is D's verdict times D's weight. Where w is 0, D looks at nothing, "
    "and G learns nothing.",
    stretch="let D and G take steps with these gradients from a = 1, b = 0, w = 0.1, c = 0, and print b. Does it go to "
    "the mean of the real numbers, or around it?",
    mistakes=(
        Mistake(
            "the way back stops at the logit",
            "From the logit the gradient goes on to the number that G made, and the logit is w times that number. So "
            "the derivative is multiplied by w.",
            ((BACK, "back = on_fake - 1"),),
        ),
        Mistake(
            "the generator is taught D's labels",
            "In its own step G wants its numbers to pass for real ones. So their label is 1 there, and the derivative "
            "is sigmoid(x) − 1.",
            ((BACK, "back = on_fake * w"),),
        ),
        Mistake(
            "the generator descends log(1 − d)",
            "This is the game as theory has it: the slope of log(1 − d) is −d. In practice G's loss is −log d, whose "
            "slope is d − 1.",
            ((BACK, "back = -on_fake * w"),),
        ),
        Mistake(
            "the generator gets no gradient",
            "a and b made the numbers that D judges, so g_loss depends on them. Go back from the logit through w to "
            "the number, and from there to a and b.",
            (("(back * z).mean(), back.mean()", "0.0, 0.0"),),
        ),
        Mistake(
            "sums in place of means",
            "The loss is a mean over the batch, so each of its gradients is one as well.",
            ((BY_W, "by_w = (on_real * real).sum() + (on_fake * fake).sum()"), (BY_C, "by_c = on_real.sum() + "
              "on_fake.sum()"), ("(back * z).mean(), back.mean()", "(back * z).sum(), back.sum()")),
        ),
        Mistake(
            "the latents taken for images",
            "D never sees a latent. It sees what G made of it, and w is multiplied by that.",
            (("(on_fake * fake).mean()", "(on_fake * z).mean()"),),
        ),
        Mistake(
            "real numbers taken for the latents",
            "No real number enters the gradient of G. The number a is multiplied by the latent z.",
            (("(back * z).mean()", "(back * real).mean()"),),
        ),
        Mistake(
            "half of D's loss",
            "D has two losses: real numbers with the label 1, and generated ones with the label 0. Both gradients add "
            "up.",
            (((BY_W, "by_w = (on_real * real).mean()"), (BY_C, "by_c = on_real.mean()")),
             ((BY_W, "by_w = (on_fake * fake).mean()"), (BY_C, "by_c = on_fake.mean()"))),
        ),
        Mistake(
            "the order",
            "The array holds the gradients with respect to w, c, a and b, in this order.",
            (("[by_w, by_c, (back * z).mean(), back.mean()]", "[(back * z).mean(), back.mean(), by_w, by_c]"),
             ("(back * z).mean(), back.mean()", "back.mean(), (back * z).mean()")),
        ),
    ),
)  # fmt: skip
