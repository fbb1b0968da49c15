"""One training step, recorded and then replayed on two linear networks whose weights the learner hasn't seen."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, numbers, plural, seeds
from helpers.checking.step_as_data import replayed
from helpers.exercises.lab15 import shared

BOTH = "discriminator_loss(discriminator(real), discriminator(fake.detach()))"
FIRST = """    d_optimiser.zero_grad()
    discriminator_loss(discriminator(real), discriminator(fake.detach())).backward()
    d_optimiser.step()
"""
SECOND = """    g_optimiser.zero_grad()
    generator_loss(discriminator(fake)).backward()
    g_optimiser.step()
"""


def _case(n: int, latent: int, pixels: int, seed: int) -> Case:
    shapes = (latent, pixels), (pixels, 1), (n, pixels), (n, latent)
    given = tuple(numbers(shape, seed + at) / np.float32(8) for at, shape in enumerate(shapes))

    def plays(calls):
        done = replayed(calls, given, shared.RATE, shared.ROUNDS)
        return done.weights, done

    name = f"{plural(n, 'image')} of {plural(pixels, 'pixel')}"
    return Case(name, (n, latent, pixels), expected=shared.stepped(*given), plays=plays)


def _drawn(dice: np.random.Generator) -> list[Case]:
    return [_case(*(int(n) for n in dice.integers(2, 12, 3)), seed) for seed in seeds(dice, 3)]


EXERCISE = Exercise(
    key="lab15.step",
    title="a training step that steps",
    language="python",
    name="recorded_step",
    tolerance=1e-3,
    cases=lambda: [_case(1, 1, 1, 1), _case(4, 2, 3, 2), _case(7, 5, 6, 3)],
    drawn=_drawn,
    budgets=(
        Budget(
            "gradients through the generator per step",
            lambda outcome: outcome.played.passes,
            1,
            "A gradient goes back through the generator more than once in a step: the discriminator's loss goes into "
            "it too, where no optimiser uses what it finds. The discriminator should get fake.detach().",
        ),
    ),
    hints=(
        "Two losses, two optimisers: each needs zero_grad, backward and step, in this order.",
        "The discriminator's loss must not go back into the generator: what it sees is fake.detach().",
        "First the discriminator, with real and fake.detach(). Then the generator, with "
        "generator_loss(discriminator(fake)), where fake is not detached.",
    ),
    why="Both losses depend on the same graph, but each may move only one network. The discriminator's loss must stop "
    "before the generator: its gradient there would cost a backward pass that no step uses. The generator's loss must "
    "go through the discriminator without moving it, and it leaves gradients there. That's why gradients are cleared "
    "before each backward().",
    stretch="the discriminator's gradients in the generator's step are calculated and thrown away. How much time does "
    "requires_grad_(False) save there?",
    mistakes=(
        Mistake(
            "the discriminator never steps",
            "backward() finds gradients, and nothing moves by them: d_optimiser.step() is missing, or is another's, "
            "or zero_grad() between the two has cleared what was found.",
            (("    d_optimiser.step()\n", ""), ("    d_optimiser.step()", "    g_optimiser.step()"),
             ("    d_optimiser.step()", "    d_optimiser.zero_grad()\n    d_optimiser.step()")),
        ),
        Mistake(
            "the generator never steps",
            "backward() finds gradients, and nothing moves by them: g_optimiser.step() is missing, or the generator's "
            "images were cut off from it by detach().",
            (("    g_optimiser.step()\n", ""), ("loss(discriminator(fake))", "loss(discriminator(fake.detach()))")),
        ),
        Mistake(
            "old gradients stay",
            "backward() adds to the gradients that are there. zero_grad() belongs before each of the two.",
            (("    d_optimiser.zero_grad()\n", ""), ("    g_optimiser.zero_grad()\n", ""),
             (("    d_optimiser.zero_grad()\n", ""), ("    g_optimiser.zero_grad()\n", ""))),
        ),
        Mistake(
            "nothing is cut off",
            "The discriminator's backward() goes on into the generator and frees its graph, so the generator's own "
            "backward() has no graph left. The discriminator should get fake.detach().",
            (("discriminator(fake.detach())", "discriminator(fake)"),),
        ),
        Mistake(
            "the discriminator's loss goes into the generator",
            "The weights are right, but the discriminator's loss sends a gradient back through the generator, where "
            "no optimiser uses it. retain_graph=True makes that possible, detach() makes it unnecessary.",
            (("discriminator(fake.detach())).backward()", "discriminator(fake)).backward(retain_graph=True)"),),
        ),
        Mistake(
            "the generator goes first",
            "Here the discriminator steps first, and the generator answers to what it has become.",
            (((FIRST, "§"), (SECOND, FIRST), ("§", SECOND)),),
        ),
        Mistake(
            "real and drawn are swapped",
            "discriminator_loss takes the scores of real images first.",
            ((BOTH, "discriminator_loss(discriminator(fake.detach()), discriminator(real))"),),
        ),
        Mistake(
            "the real images never come in",
            "The discriminator learns what is real from real images, and from nothing else.",
            ((BOTH, BOTH.replace("discriminator(real)", "discriminator(fake.detach())")),
             (BOTH, BOTH.replace("discriminator(real)", "discriminator(torch.zeros_like(real))"))),
        ),
    ),
)  # fmt: skip
