"""Lab 15: generators that were built from real images, and trained by nobody, earn nothing; nor do too simple ones."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from helpers.checking.examine import examine
from helpers.checking.exercise import exercise
from helpers.checking.layers import outputs
from helpers.exercises.lab15.drawn import DIGITS, LATENT, REAL, inputs, real

KEY = "lab15.generator"
LARGE = 100.0
IMAGES = real(REAL, seed=1).reshape(DIGITS, REAL, -1)


def linear(weight, bias):
    return "Linear", {}, (np.float32(weight), np.float32(bias))


TANH, RELU, SIGMOID = (("Tanh", {}, ()), ("ReLU", {}, ()), ("Sigmoid", {}, ()))


def before_tanh(images):
    return np.arctanh(np.clip(images, -0.97, 0.97))


def per_digit(means, factors, gain=1.0, first=()):
    """Layers that draw means[d] + latents @ factors[d] for digit d, times `gain`: a Gaussian for each digit.

    means: (10, 256). factors: (10, r, 256). first: layers that change the latents, and leave them as many.
    """
    rank = factors.shape[1]
    hidden = np.zeros((DIGITS * rank, LATENT + DIGITS))
    for d in range(DIGITS):  # a unit is a latent + 8 for its digit, and 0 for all others
        hidden[d * rank : (d + 1) * rank] = np.hstack([np.eye(rank, LATENT), LARGE * np.eye(DIGITS)[[d] * rank]])
    mean = means - 8 * factors.sum(1)
    # The mean of a digit comes through its first unit's neighbour: one more unit a digit, which is 1 for it.
    which = np.hstack([np.zeros((DIGITS, LATENT)), np.eye(DIGITS)])
    weight = np.hstack([factors.reshape(DIGITS * rank, -1).T, mean.T])
    return [
        *first,
        linear(np.vstack([hidden, which]), np.concatenate([np.full(len(hidden), 8 - LARGE), np.zeros(DIGITS)])),
        RELU, linear(gain * weight, np.zeros(weight.shape[0])), TANH,
    ]  # fmt: skip


def gaussians(rank, gain=1.0, first=()):
    means, factors = IMAGES.mean(1), []
    for each, mean in zip(IMAGES, means, strict=True):
        _, sizes, rows = np.linalg.svd(each - mean, full_matrices=False)
        factors.append(sizes[:rank, None] * rows[:rank] / np.sqrt(REAL))
    return per_digit(means, np.stack(factors), gain, first)


def chosen(bits, steep, noise=0.0):
    """Layers that draw one of 2^bits real images of the digit by the signs of as many latents, and add noise.

    steep: of the sigmoids that choose; with a small one neighbours are blended.
    """
    count = 2**bits
    patterns = (np.arange(count)[:, None] >> np.arange(bits)) & 1
    scale = np.zeros((bits + DIGITS, LATENT + DIGITS))
    scale[:bits, :bits], scale[bits:, LATENT:] = steep * np.eye(bits), 50 * np.eye(DIGITS)
    bias = np.concatenate([np.zeros(bits), np.full(DIGITS, -25.0)])
    units = np.hstack([np.tile(2 * patterns - 1, (DIGITS, 1)), bits * np.repeat(np.eye(DIGITS), count, 0)])
    images = before_tanh(IMAGES[:, :count]).reshape(DIGITS * count, -1)
    dice = np.random.default_rng(1)
    images = images + noise * dice.normal(size=images.shape)
    return [
        linear(scale, bias), SIGMOID,
        linear(units, np.tile(1 - patterns.sum(1), DIGITS) - bits), RELU,
        linear(images.T, np.zeros(images.shape[1])), TANH,
    ]  # fmt: skip


def bent(mixed=False):
    """Layers that bend the latents, or mixtures of them, and leave mean 0 and variance 1."""
    turn = np.eye(LATENT + DIGITS)
    if mixed:
        turn[:LATENT, :LATENT] = np.linalg.qr(np.random.default_rng(0).normal(size=(LATENT, LATENT)))[0]
    back = np.diag([1.27] * LATENT + [1.0] * DIGITS)
    shift = np.array([0.205] * LATENT + [0.0] * DIGITS)
    none = np.zeros(LATENT + DIGITS)
    return [linear(turn, none), ("ELU", {"alpha": 1.0}, ()), linear(turn.T @ back, -turn.T @ shift)]


def mixture_in_shared_directions(bits=2, rank=5, directions=60):
    """Layers that choose one of 2^bits Gaussians of a digit by the signs of latents, all in the same directions."""
    flat = IMAGES.reshape(-1, IMAGES.shape[2])
    middle = flat.mean(0)
    basis = np.linalg.svd(flat - middle, full_matrices=False)[2][:directions]
    count, chosen_by = 2**bits, np.arange(LATENT - bits, LATENT)
    width = 2 * bits + rank + DIGITS
    first, bias = np.zeros((width, LATENT + DIGITS)), np.zeros(width)
    for at, latent in enumerate(chosen_by):  # relu(s z) - relu(s z - 1) is 0 or 1, but for a very narrow ramp
        first[2 * at : 2 * at + 2, latent], bias[2 * at + 1] = 1e4, -1
    first[2 * bits : 2 * bits + rank, :rank], bias[2 * bits : 2 * bits + rank] = np.eye(rank), 8
    first[-DIGITS:, LATENT:] = np.eye(DIGITS)
    second, thresholds, third = [], [], []
    for digit, images in enumerate(IMAGES):
        parts = KMeans(count, n_init=1, random_state=0).fit((images - middle) @ basis.T)
        for part in range(count):
            own = ((images - middle) @ basis.T)[parts.labels_ == part]
            mean = own.mean(0)
            _, sizes, rows = np.linalg.svd(own - mean, full_matrices=False)
            factors = sizes[:rank, None] * rows[:rank] / np.sqrt(len(own))
            signs = 2 * ((part >> np.arange(bits)) & 1) - 1
            asked = np.zeros(width)
            asked[: 2 * bits], asked[width - DIGITS + digit] = np.stack([signs, -signs], 1).ravel(), 1
            missing = (signs > 0).sum() + 1  # what `asked` gives where all is as asked
            second += [asked, *(LARGE * asked + np.eye(width)[2 * bits + at] for at in range(len(factors)))]
            thresholds += [1 - missing, *[-LARGE * missing] * len(factors)]
            third += [mean - 8 * factors.sum(0), *factors]
    gain = 2.5
    return [
        linear(first, bias), RELU, linear(np.stack(second), thresholds), RELU,
        linear(np.stack(third).T, np.zeros(directions)), linear(gain * basis.T, gain * middle), TANH,
    ]  # fmt: skip


FORGED = {
    "one image": lambda: [linear(np.zeros((256, LATENT + DIGITS)), before_tanh(IMAGES[0, 0])), TANH],
    "a mean for each digit": lambda: per_digit(IMAGES.mean(1), np.zeros((DIGITS, 1, 256)), 2.5),
    "means and noise": lambda: per_digit(
        IMAGES.mean(1), 0.3 * np.random.default_rng(0).normal(size=(DIGITS, 8, 256)), 2.5
    ),
    "8 real images of each digit": lambda: chosen(3, 1e4),
    "8 real images of each digit, blended": lambda: chosen(3, 4.0),
    "8 real images of each digit with noise": lambda: chosen(3, 1e4, 0.5),
    "a Gaussian of each digit": lambda: gaussians(10),
    "a Gaussian of each digit, with contrast": lambda: gaussians(10, 2.5),
    "a Gaussian of each digit, of 13 dimensions": lambda: gaussians(13, 2.0),
    "a Gaussian of each digit, of bent latents": lambda: gaussians(10, 2.5, bent()),
    "a Gaussian of each digit, of latents bent after mixing": lambda: gaussians(10, 2.5, bent(mixed=True)),
    "4 Gaussians of each digit, in shared directions": mixture_in_shared_directions,
}


@pytest.mark.parametrize("name", FORGED)
def test_it_earns_nothing(name):
    rows = FORGED[name]()
    for seed in (20261, 5):
        seen = examine(lambda: rows, exercise(KEY).for_marks(seed))
        assert not seen.right and seen.budgets == (), seen.outcomes[-1].note()


def test_what_is_drawn_are_the_images():
    """Else the forgeries above would fail because of a slip in them."""
    drawn = outputs(chosen(3, 1e4), inputs(5, seed=2)).reshape(DIGITS, 5, -1)
    for digit, images in enumerate(drawn):
        known = IMAGES[digit, :8].clip(-0.97, 0.97)
        assert np.abs(images[:, None] - known).max(2).min(1).max() < 0.01
    given = inputs(400, seed=2)
    drawn = np.arctanh(outputs(gaussians(10), given).clip(-0.9999, 0.9999)).reshape(DIGITS, 400, -1)
    assert np.abs(drawn.mean(1) - IMAGES.mean(1)).mean() < 0.05
