"""Real images in the range that the generator draws in."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, plural, seeds


def _case(count: int, seed: int, darkest: int = 16) -> Case:
    pixels = np.random.default_rng(seed).integers(0, darkest + 1, (count, 8, 8)).astype(np.float32)
    wanted = (pixels / 8 - 1).reshape(count, 64)
    name = plural(count, "image") + (f" of pixels up to {darkest}" if darkest < 16 else "")
    return Case(name, (pixels,), expected=(wanted, "float32"), plays=_with_type)


def _with_type(got) -> tuple:
    """What was returned, and its type beside it: a float64 array would be right to any tolerance."""
    return (got, str(getattr(got, "dtype", type(got).__name__))), None


def _drawn(dice: np.random.Generator) -> list[Case]:
    return [_case(*row[:1], seed, *row[1:]) for row, seed in zip(((3,), (11,), (5, 9)), seeds(dice, 3), strict=True)]


EXERCISE = Exercise(
    key="lab15.samples",
    title="real images as the discriminator sees them",
    language="python",
    name="samples",
    cases=lambda: [_case(1, 1), _case(2, 2), _case(7, 3), _case(4, 4, 11)],
    drawn=_drawn,
    hints=(
        "The generator ends in tanh. From where to where do its images go?",
        "Pixels from 0 to 16 have to go from -1 to 1, and each image becomes a row of 64.",
        "np.float32(pixels.reshape(len(pixels), 64) / 8 - 1)",
    ),
    why="A discriminator learns the easiest difference there is. If real pixels go from 0 to 16 and drawn ones from "
    "-1 to 1, the sum of an image gives it away, and the generator can't do anything about that, as its tanh never "
    "gets there. Real and drawn images may differ in what they show and in nothing else: not in their range, and not "
    "in a scale that changes from batch to batch.",
    stretch="digits have whole numbers as pixels, and drawn images fractions. Could a discriminator use that? Add a "
    "little noise to the real ones.",
    mistakes=(
        Mistake(
            "noise in place of images",
            "What stands for real images here is random noise. A discriminator learns digits from digits.",
            (("pixels.reshape(len(pixels), 64) / 8 - 1",
              "np.random.default_rng(0).normal(size=(len(pixels), 64)).astype(np.float32)"),),
        ),
        Mistake(
            "from 0 to 1",
            "The generator ends in tanh, which goes from -1 to 1. Real images from 0 to 1 are never negative, and "
            "that alone gives them away.",
            (("/ 8 - 1", "/ 16"),),
        ),
        Mistake(
            "divided by 255",
            "The pixels of these digits go from 0 to 16, not to 255: divided by 255, they are all nearly 0.",
            (("/ 8 - 1", "/ 255"), ("/ 8 - 1", "/ 127.5 - 1")),
        ),
        Mistake(
            "standardised",
            "With mean 0 and variance 1, pixels leave the range of tanh, and the scale depends on the batch.",
            (("pixels.reshape(len(pixels), 64) / 8 - 1",
              "(pixels.reshape(len(pixels), 64) - pixels.mean()) / pixels.std()"),),
        ),
        Mistake(
            "scaled by its own maximum",
            "The scale depends on the batch, so the same image looks different in another batch. Pixels go from 0 to "
            "16, whatever the largest pixel of this batch is.",
            (("/ 8 - 1", "/ pixels.max() * 2 - 1"),
             ("/ 8 - 1", "/ pixels.reshape(len(pixels), 64).max(1, keepdims=True) * 2 - 1")),
        ),
        Mistake(
            "float64",
            "The values are right, but the weights of the networks are float32, and PyTorch doesn't mix the two.",
            (("np.float32(", "np.float64("),),
        ),
        Mistake(
            "pixels as they come",
            "Pixels from 0 to 16 are outside the range of tanh.",
            (("/ 8 - 1", "/ 1"),),
        ),
        Mistake(
            "black is white",
            "The least pixel, 0, becomes -1, and the greatest, 16, becomes 1.",
            (("pixels.reshape(len(pixels), 64) / 8 - 1", "1 - pixels.reshape(len(pixels), 64) / 8"),),
        ),
        Mistake(
            "images, not rows",
            "The discriminator's first layer is linear: it takes a row of 64 numbers for each image.",
            (("pixels.reshape(len(pixels), 64)", "pixels"),),
        ),
        Mistake(
            "the images are mixed",
            "A row has to be one image, with its pixels in their order.",
            (("pixels.reshape(len(pixels), 64)", "pixels.reshape(64, len(pixels)).T"),),
        ),
    ),
)  # fmt: skip
