"""A training step as data: replayed on other weights, with a count of the gradients through the generator."""

import numpy as np
import pytest

from helpers.checking.step_as_data import NotRecorded, recorded, replayed
from helpers.exercises.lab15.shared import stepped

torch = pytest.importorskip("torch")
loss = torch.nn.functional.binary_cross_entropy_with_logits


def step(see=lambda fake: fake.detach(), **backward):
    """A training step whose discriminator sees what `see` makes of drawn images."""

    def train_step(generator, discriminator, g_optimiser, d_optimiser, real, latents):
        fake = generator(latents)
        d_optimiser.zero_grad()
        by_real, by_fake = discriminator(real), discriminator(see(fake))
        (loss(by_real, torch.ones_like(by_real)) + loss(by_fake, torch.zeros_like(by_fake))).backward(**backward)
        d_optimiser.step()
        g_optimiser.zero_grad()
        scores = discriminator(fake)
        loss(scores, torch.ones(len(scores), 1)).backward()
        g_optimiser.step()

    return train_step


def by_a_copy(_generator, discriminator, g_optimiser, d_optimiser, real, latents):
    """Draws with a copy of the generator's weights, and doesn't detach."""
    copy = lambda given: torch.nn.functional.linear(given, _generator.weight + 0)
    step(lambda fake: fake, retain_graph=True)(copy, discriminator, g_optimiser, d_optimiser, real, latents)


def by_grad(generator, discriminator, g_optimiser, d_optimiser, real, latents):
    fake = generator(latents)
    scores = discriminator(torch.cat([real, fake.clone().detach()]))
    labels = torch.cat([torch.ones(len(real), 1), torch.zeros(len(fake), 1)])
    (discriminator.weight.grad,) = torch.autograd.grad(2 * loss(scores, labels), [discriminator.weight])
    d_optimiser.step()
    generator.weight.grad = None
    discriminator.weight.requires_grad = False
    loss(discriminator(fake), torch.ones(len(fake), 1)).backward()
    g_optimiser.step()
    discriminator.weight.requires_grad = True


def replay(train_step):
    dice = np.random.default_rng(0)
    given = tuple(dice.normal(size=shape).astype(np.float32) for shape in ((2, 3), (3, 1), (5, 3), (5, 2)))
    return replayed(recorded(train_step, 5, 2, 3), given, 0.5, 3), stepped(*given)


@pytest.mark.parametrize(
    ("train_step", "passes"),
    [
        (step(), 1),
        (step(lambda fake: fake.data), 1),
        (step(lambda fake: fake, retain_graph=True), 2),
        (by_a_copy, 2),
        (by_grad, 1),
    ],
)
def test_a_step_moves_weights_it_has_not_seen(train_step, passes):
    done, wanted = replay(train_step)
    for got, expected in zip(done.weights, wanted, strict=True):
        assert np.allclose(got, expected, atol=1e-4)
    assert done.passes == passes


def test_a_step_that_only_computes_in_numpy_moves_nothing():
    done, wanted = replay(lambda *given: given[4].numpy() @ np.ones((3, 1)))
    assert not np.allclose(done.weights[0], wanted[0], atol=1e-4) and done.passes == 0


def test_an_operation_that_cannot_be_replayed_is_named():
    with pytest.raises(NotRecorded, match="cosine_similarity"):
        recorded(lambda *given: torch.cosine_similarity(given[4], given[4]), 5, 2, 3)


A = np.zeros((2, 2), np.float32)
BROADCAST = [("constant", np.ones(shape, bool)) for shape in ((4096, 1, 1), (4096, 1), (4096,))]  # 256 GiB together


@pytest.mark.parametrize(
    "calls",
    [
        None, [1], [("step", [2], {}, True)], [("step", [A], {}, True)], [("step", [1.0], {}, True)],
        [("torch.load", ["a file"], {}, True)],
        [("torch.add", [("tensor", 9), 1], {}, True)], [("torch.add", [("import", "os"), 1], {}, True)],
        [("torch.cat", [[("tensor", 2)] * 5000], {}, True)], [("step", [0], {}, True)] * 400,
        [("torch.where", BROADCAST, {}, True)], [("torch.chunk", [BROADCAST[2], 100], {}, True)],
        [("torch.add", [("tensor", 2)], {"other": A}, True)], [("torch.add", [("tensor", 2), 1], {}, 1)],
    ],
)  # fmt: skip
def test_what_is_no_recording_is_refused(calls):
    with pytest.raises(NotRecorded):
        replayed(calls, (A, A[:, :1], A, A), 0.5, 1)
