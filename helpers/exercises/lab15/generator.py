"""A generator, trained with what was mended, graded by what it draws of latents that nobody has seen."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake
from helpers.exercises.lab15 import shared

MANY = 300


def _drawn(dice: np.random.Generator) -> list[Case]:
    few, same, many = (int(seed) for seed in dice.integers(10**6, 10**9, 3))
    return [
        shared.drawing(int(dice.integers(2, 9)), few),
        shared.drawing(int(dice.integers(2, 9)), same, same=True),
        shared.drawing(MANY, many),
    ]


EXERCISE = Exercise(
    key="lab15.generator",
    title="a generator that draws digits",
    language="python",
    name="draw",
    cases=lambda: [shared.drawing(1, 1), shared.drawing(5, 2, same=True), shared.drawing(MANY, 3)],
    drawn=_drawn,
    patience=4,
    budgets=(
        Budget(
            "digits missing of ten",
            shared.digits_missing,
            3,
            "Some digits are hardly ever drawn: the generator has found a few images that always pass. Is the "
            "discriminator trained as often, on real images of every kind?",
            of="answer",
        ),
        Budget(
            "distance to real digits in per cent",
            shared.mean_distance,
            24,
            "The images are far from every real digit. Is the discriminator shown real images, in the generator's "
            "range?",
            of="answer",
        ),
        Budget(
            "copies of real digits of 100",
            shared.copies,
            5,
            "Images that are a real one to the last pixel were copied, and not drawn.",
            of="answer",
        ),
    ),
    hints=(
        "A step wants a batch of real images and as many latents, both new each time.",
        "torch.randint(len(pixels), (BATCH,)) chooses a batch, and samples brings it to the right range. "
        "torch.randn(BATCH, LATENT) draws latents. Then train_step.",
        "draw is the way back: generator(torch.tensor(latents)), then from -1 … 1 to 0 … 16, and to the shape (n, 8, "
        "8).",
    ),
    why="Nobody tells the generator what a digit is. All that it ever learns is how the discriminator's score "
    "changes with each pixel, and all that the discriminator knows comes from the real batch. So a fault in any one "
    "place, in a label, a detach, a range or a batch, leaves curves that look busy and images that look like "
    "nothing. That is why what it draws is looked at, and not the loss.",
    stretch="give both networks the digit's label as ten more numbers, and ask for a digit of your choice.",
    mistakes=(
        Mistake(
            "pixels from -1 to 1",
            "What comes out of tanh goes from -1 to 1, and pixels go from 0 to 16: do the reverse of samples.",
            (("(drawn + 1) * 8", "drawn"), ("(drawn + 1) * 8", "drawn * 8")),
        ),
        Mistake(
            "rows, not images",
            "Each row of 64 numbers is an image of 8 × 8.",
            ((".reshape(-1, 8, 8)", ""),),
        ),
        Mistake(
            "a tensor in place of an array",
            "What is asked for is a NumPy array: .cpu().numpy() makes one of a tensor.",
            ((".cpu().numpy()", ""),),
        ),
        Mistake(
            "the latents are not used",
            "The same latents must give the same image. Here new ones are drawn each time.",
            (("torch.tensor(latents, device=device)", "torch.randn(len(latents), LATENT, device=device)"),),
        ),
        Mistake(
            "real images are noise",
            "What the discriminator is shown as real is noise, so the generator learns to draw noise.",
            (("torch.tensor(samples(pixels[chosen]), device=device)", "torch.randn(BATCH, 64, device=device)"),),
        ),
        Mistake(
            "nothing was learned",
            "Whatever the latents, the same grey comes out: train_step was never called, or hardly ever.",
            (("    train_step(generator", "    (lambda *_: None)(generator"),),
        ),
        Mistake(
            "one image is all that is real",
            "The discriminator is always shown the same real image, so that is what the generator learns to draw.",
            (("pixels[chosen]", "pixels[0 * chosen]"),),
        ),
    ),
)  # fmt: skip
