"""The generator's loss: its value, and its gradient with respect to the scores."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, seeds
from helpers.exercises.lab15.shared import scores, sigmoid, softplus

LOSS = "binary_cross_entropy_with_logits(fake_scores, torch.ones_like(fake_scores))"


def _case(fake: np.ndarray, called: str) -> Case:
    exact = fake.astype(np.float64)
    gradient = (sigmoid(exact) - 1) / len(fake)
    return Case(
        called,
        (fake,),
        expected=(softplus(-exact).mean(keepdims=True)[0].astype(np.float32), gradient.astype(np.float32)),
    )


def _random(count: int, seed: int, shift: float) -> Case:
    sure = {0.0: "", -12.0: ", scored low", -200.0: ", scored very low", 6.0: ", scored high"}[shift]
    return _case(scores(count, seed) + np.float32(shift), f"{count} drawn{sure}")


def _drawn(dice: np.random.Generator) -> list[Case]:
    shifts = (0.0, -12.0, 6.0, -200.0)
    return [_random(int(dice.integers(2, 40)), s, by) for by, s in zip(shifts, seeds(dice, 4), strict=True)]


EXERCISE = Exercise(
    key="lab15.fooling",
    title="the generator's loss",
    language="python",
    name="fooling",
    tolerance=1e-4,
    cases=lambda: [
        _case(np.full((1, 1), 2.0**-10, np.float32), "one, undecided"),  # at 0 itself, |s| has no gradient
        *(_random(*each) for each in ((4, 1, 0.0), (9, 2, -12.0), (6, 3, 6.0), (5, 4, -200.0))),
    ],
    drawn=_drawn,
    hints=(
        "The generator is trained so that drawn images are taken for real. Which target is that?",
        "Look at the gradient for a score of -12, an image that was recognised: log(1 - sigmoid(s)) is flat there.",
        "binary_cross_entropy_with_logits of the drawn images' scores, with ones as targets.",
    ),
    why="Both losses have their minimum in the same place. They differ at the start, when the discriminator recognises "
    "every drawn image. There log(1 - sigmoid(s)) is flat, so the generator learns nothing, while -log(sigmoid(s)) has "
    "a slope of almost -1. A loss is chosen for its gradient, not for its value, and both must stay finite for any "
    "score.",
    stretch="plot both losses and their slopes over scores from -12 to 12. Where do the slopes cross?",
    mistakes=(
        Mistake(
            "a loss that is flat where it counts",
            "log(1 - p), the discriminator's loss with its sign changed, is flat where scores are low: the gradient is "
            "nearly 0, so the generator learns nothing from images that were recognised. Use -log(p).",
            ((LOSS, "-" + LOSS.replace("ones_like", "zeros_like")),),
        ),
        Mistake(
            "the generator helps the discriminator",
            "With zeros as targets the loss falls when drawn images are recognised. The generator needs the opposite.",
            ((LOSS, LOSS.replace("ones_like", "zeros_like")),),
        ),
        Mistake(
            "the sign is turned",
            "A greater loss must be worse. With this sign every step makes the images worse.",
            (("return " + LOSS, "return -" + LOSS),),
        ),
        Mistake(
            "the logarithm of zero",
            "The sigmoid of a score of -200 is 0 in float32, and its logarithm is -inf. Compute the loss from the "
            "scores: binary_cross_entropy_with_logits and softplus(-s) stay finite.",
            (("return " + LOSS, "return -torch.log(torch.sigmoid(fake_scores)).mean()"),),
        ),
        Mistake(
            "a sum in place of a mean",
            "The loss is a mean over the batch, so that its size does not change the step.",
            ((LOSS, LOSS[:-1] + ', reduction="sum")'),),
        ),
        Mistake(
            "the sigmoid comes twice",
            "binary_cross_entropy_with_logits has the sigmoid in it. It wants scores, not probabilities.",
            ((LOSS, LOSS.replace("(fake_scores,", "(torch.sigmoid(fake_scores),")),),
        ),
        Mistake(
            "the scores themselves",
            "The mean score without its sign turned, or its negative, has the same slope everywhere. It belongs to "
            "another kind of GAN, whose discriminator is held in check in another way.",
            (("return " + LOSS, "return -fake_scores.mean()"),),
        ),
    ),
)  # fmt: skip
