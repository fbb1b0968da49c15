"""The discriminator's loss: what is real should score high, what is drawn should score low."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, seeds
from helpers.exercises.lab15.shared import scores, softplus

REAL = "binary_cross_entropy_with_logits(real_scores, torch.ones_like(real_scores))"
FAKE = "binary_cross_entropy_with_logits(fake_scores, torch.zeros_like(fake_scores))"


def _case(real: np.ndarray, fake: np.ndarray, called: str) -> Case:
    wanted = float(softplus(-real.astype(np.float64)).mean() + softplus(fake.astype(np.float64)).mean())
    return Case(called, (real, fake), expected=wanted)


def _random(n_real: int, n_fake: int, seed: int, spread: float = 3.0) -> Case:
    called = f"{n_real} real and {n_fake} drawn" + (", very sure" if spread > 100 else "")
    return _case(scores(n_real, seed, spread), scores(n_fake, seed + 1, spread), called)


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = ((int(dice.integers(1, 40)), int(dice.integers(1, 40)), spread) for spread in (1.0, 4.0, 200.0))
    return [_random(n, m, s, spread) for (n, m, spread), s in zip(sizes, seeds(dice, 3), strict=True)]


EXERCISE = Exercise(
    key="lab15.judging",
    title="the discriminator's loss",
    language="python",
    name="judging",
    tolerance=1e-4,
    cases=lambda: [
        _case(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32), "one of each, undecided"),
        _case(np.full((1, 1), 2, np.float32), np.full((1, 1), -1, np.float32), "one of each, both right"),
        *(_random(*each) for each in ((5, 5, 1), (3, 8, 3), (16, 16, 5, 200.0))),
    ],
    drawn=_drawn,
    hints=(
        "Which score should be high, and which low? And what does exp do to a score of 200?",
        "binary_cross_entropy_with_logits takes scores as they are. It never calculates a probability that could be "
        "0.",
        "The loss has two terms: of the real scores with ones as targets, and of the drawn ones with zeros.",
    ),
    why="A probability that has underflowed to 0 no longer says how wrong the score was: its logarithm is infinite, "
    "and its gradient is NaN or 0. So the cross-entropy has to be computed from scores, as max(s, 0) - s · t + "
    "log(1 + exp(-|s|)), where no exp can overflow. It's the log-sum-exp trick for two classes.",
    stretch="ones of 0.9 in place of 1 for what is real keep the discriminator from being too sure. What does that "
    "change?",
    mistakes=(
        Mistake(
            "the labels are swapped",
            "A high score means real. So the target is 1 for real images, and 0 for drawn ones.",
            ((("torch.ones_like(real", "torch.§(real"), ("torch.zeros_like(fake", "torch.ones_like(fake"),
              ("torch.§(real", "torch.zeros_like(real")),),
        ),
        Mistake(
            "the drawn images are left out",
            "A discriminator that is only shown real images learns to call everything real.",
            (("return real + fake", "return real"),),
        ),
        Mistake(
            "the real images are left out",
            "A discriminator that is only shown drawn images learns to call everything drawn.",
            (("return real + fake", "return fake"),),
        ),
        Mistake(
            "the mean of both",
            "The loss is the sum of two means, one over the real scores and one over the drawn ones.",
            (("return real + fake", "return (real + fake) / 2"),
             ("return real + fake", "return (len(real_scores) * real + len(fake_scores) * fake) / "
              "(len(real_scores) + len(fake_scores))")),
        ),
        Mistake(
            "sums in place of means",
            "Each of the two terms is a mean over its scores, so that a batch of another size weighs as much.",
            (((REAL, REAL[:-1] + ', reduction="sum")'), (FAKE, FAKE[:-1] + ', reduction="sum")')),),
        ),
        Mistake(
            "the sigmoid comes twice",
            "binary_cross_entropy_with_logits has the sigmoid in it. It wants scores, not probabilities.",
            (((REAL, REAL.replace("(real_scores,", "(torch.sigmoid(real_scores),")),
              (FAKE, FAKE.replace("(fake_scores,", "(torch.sigmoid(fake_scores),"))),),
        ),
        Mistake(
            "the logarithm of zero",
            "A score of -200 is a probability of 0 in a float, and log(0) is -inf. Work with the scores themselves.",
            (((REAL, "-torch.log(torch.sigmoid(real_scores)).mean()"),
              (FAKE, "-torch.log(1 - torch.sigmoid(fake_scores)).mean()")),),
        ),
    ),
)  # fmt: skip
