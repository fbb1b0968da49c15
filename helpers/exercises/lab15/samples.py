"""Real images in the range that the generator draws in."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, plural, seeds


def _case(count: int, seed: int) -> Case:
    pixels = np.random.default_rng(seed).integers(0, 17, (count, 8, 8)).astype(np.float32)
    wanted = (pixels / 8 - 1).reshape(count, 64)
    return Case(plural(count, "image"), (pixels,), expected=wanted)


EXERCISE = Exercise(
    key="lab15.samples",
    title="real images as the discriminator sees them",
    language="python",
    name="samples",
    cases=lambda: [_case(1, 1), _case(2, 2), _case(7, 3)],
    drawn=lambda dice: [_case(count, seed) for count, seed in zip((3, 11), seeds(dice, 2), strict=True)],
    hints=(
        "The generator ends in tanh. From where to where do its images go?",
        "Pixels from 0 to 16 have to go from -1 to 1, and each image becomes a row of 64.",
        "pixels.reshape(len(pixels), 64) / 8 - 1",
    ),
    why="A discriminator takes the easiest difference there is. If real pixels go from 0 to 16 and drawn ones from "
    "-1 to 1, the sum of an image gives it away, and the generator, whose tanh cannot get there, can do nothing "
    "about it. Real and drawn images must differ in what they show and in nothing else.",
    stretch="digits have whole numbers as pixels, and drawn images fractions. Could a discriminator use that? Add a "
    "little noise to the real ones.",
    mistakes=(
        Mistake(
            "noise in place of images",
            "What stands for real images here is drawn by chance. A discriminator learns digits from digits.",
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
            "pixels as they come",
            "Pixels from 0 to 16 are far beyond what tanh can draw.",
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
