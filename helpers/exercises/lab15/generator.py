"""A generator, trained with the fixed parts, graded by what its layers draw from latents unknown to the learner."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake
from helpers.exercises.lab15.drawn import drawing, measured

MANY = 600


def _drawn(dice: np.random.Generator) -> list[Case]:
    return [drawing(int(dice.integers(MANY, MANY + 100)), int(dice.integers(10**6, 10**9)))]


EXERCISE = Exercise(
    key="lab15.generator",
    title="a generator that draws digits",
    language="python",
    name="trained",
    cases=lambda: [drawing(MANY, 3)],
    drawn=_drawn,
    patience=4,
    budgets=(
        Budget(
            "digits missing of ten",
            measured("missing"),
            1,
            "Some digits are hardly ever drawn: the generator has found a few images that always pass. Is the "
            "discriminator trained as often as the generator, on real images of every digit?",
            of="answer",
        ),
        Budget(
            "distance to real digits in per cent",
            measured("distance"),
            22,
            "The images are far from every real digit. Does the discriminator get real images, in the generator's "
            "range?",
            of="answer",
        ),
        Budget(
            "unreadable images of 100",
            measured("unreadable"),
            55,
            "Too many images lie between digits. Does the training run for all steps, with a new batch in each?",
            of="answer",
        ),
        Budget(
            "copies and repeats of 100",
            measured("copies"),
            10,
            "A copy is much closer to one real image than to all others, and a repeat is almost the same as another "
            "drawn image. A trained generator makes next to none of either.",
            of="answer",
        ),
        Budget(
            "digits that hardly vary",
            measured("alike"),
            2,
            "The images of a digit are almost the same, whatever the latents are: each digit has collapsed to a few "
            "images.",
            of="answer",
        ),
    ),
    hints=(
        "A step takes a batch of real images and as many latents, both new each time.",
        "torch.randint(len(pixels), (BATCH,)) chooses a batch, and samples brings it to the right range. "
        "torch.randn(BATCH, LATENT) draws latents. Then call train_step.",
        "batch = torch.tensor(samples(pixels[chosen]), device=device), then train_step(generator, discriminator, "
        "g_optimiser, d_optimiser, batch, latents). trained returns layers_of(generator).",
    ),
    why="The generator never sees a digit. All that it learns is how the discriminator's score changes with each "
    "pixel, and all that the discriminator knows comes from the real batch. So a fault in any one place, such as a "
    "label, a range or a batch, leaves loss curves that look plausible and images that look like nothing. That's why a "
    "generator is judged by what it draws, and not by its loss.",
    stretch="give both networks the digit's label as ten more inputs, and draw a digit of your choice.",
    mistakes=(
        Mistake(
            "the generator itself",
            "What's graded is the list of layers with their weights: return layers_of(generator).",
            (("layers_of(generator)", "generator"), ("layers_of(generator)", "generator.state_dict()")),
        ),
        Mistake(
            "almost the same images every time",
            "The generator draws almost the same few images, whatever the latents are. Is it the generator that was "
            "trained? Does each step get new latents, and real images of every kind?",
            (("layers_of(generator)", "layers_of(next(new_networks()))"), ("pixels[chosen]", "pixels[0 * chosen]"),
             ("torch.randn(BATCH, LATENT, device=device)", "torch.ones(BATCH, LATENT, device=device)")),
        ),
        Mistake(
            "real images are noise",
            "The discriminator gets noise as real images, so the generator learns to draw noise.",
            (("torch.tensor(samples(pixels[chosen]), device=device)", "torch.randn(BATCH, 64, device=device)"),),
        ),
        Mistake(
            "one digit is all that is real",
            "The discriminator gets real images of a single digit, so the generator learns to draw only that digit.",
            (("pixels[chosen]", "pixels[load_digits().target == 3][chosen % 180]"),),
        ),
    ),
)  # fmt: skip
