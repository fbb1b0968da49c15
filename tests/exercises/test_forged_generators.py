"""Lab 15: generators that were built from the real images, and trained by nobody, earn nothing."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from helpers.checking.examine import examine
from helpers.checking.exercise import exercise
from helpers.checking.layers import outputs
from helpers.exercises.lab15.drawn import LATENT, real

KEY, DIRECTIONS = "lab15.generator", 15


def linear(weight, bias):
    return "Linear", {}, (np.float32(weight), np.float32(bias))


TANH, RELU, SIGMOID = (("Tanh", {}, ()), ("ReLU", {}, ()), ("Sigmoid", {}, ()))


def before_tanh(images):
    return np.arctanh(np.clip(2 * images - 1, -0.97, 0.97))


def chosen(images, bits, noise=0.0, noises=None):
    """Layers that draw one of 2^bits images by the signs of as many latents; the other latents add noise to it."""
    rest = LATENT - bits
    scale = np.diag([1e4] * bits + [0.5] * rest)
    patterns = (np.arange(2**bits)[:, None] >> np.arange(bits)) & 1
    one_of = np.zeros((2**bits + rest, LATENT))
    one_of[: 2**bits, :bits] = 2 * patterns - 1
    one_of[2**bits :, bits:] = np.eye(rest)
    threshold = np.concatenate([1 - patterns.sum(1), np.zeros(rest)])
    if noises is None:
        noises = noise * np.random.default_rng(1).normal(size=(images.shape[1], rest))
    drawn = np.hstack([before_tanh(images[np.arange(2**bits) % len(images)]).T, noises])
    return [
        linear(scale, np.zeros(LATENT)), SIGMOID, linear(one_of, threshold), RELU,
        linear(drawn, -noises.sum(1) / 2), TANH,
    ]  # fmt: skip


def mixture(bits):
    """Centres of clusters, and noise in the directions in which images lie around them."""
    images = real()[0]
    clusters = KMeans(2**bits, n_init=1, random_state=0).fit(images)
    apart = before_tanh(images) - before_tanh(clusters.cluster_centers_)[clusters.labels_]
    _, sizes, rows = np.linalg.svd(apart - apart.mean(0), full_matrices=False)
    rest = LATENT - bits
    noises = (sizes[:rest, None] * rows[:rest]).T / np.sqrt(len(images))
    return chosen(
        clusters.cluster_centers_, bits, noises=8 * noises
    )  # a sigmoid of half a latent is an eighth as steep


def of_one_gaussian():
    images = before_tanh(real()[0])
    mean = images.mean(0)
    _, sizes, rows = np.linalg.svd(images - mean, full_matrices=False)
    weight = np.zeros((images.shape[1], LATENT))
    weight[:, :DIRECTIONS] = (sizes[:DIRECTIONS, None] * rows[:DIRECTIONS]).T / np.sqrt(len(images))
    return [linear(weight, mean), TANH]


def means():
    pixels, labels = real()
    return np.stack([pixels[labels == digit].mean(0) for digit in range(10)])


FORGED = {
    "one image": lambda: [linear(np.zeros((64, LATENT)), before_tanh(real()[0][0])), TANH],
    "ten means": lambda: chosen(means(), 4),
    "ten means and noise": lambda: chosen(means(), 4, noise=0.8),
    "copies": lambda: chosen(real()[0], 9),
    "copies and noise": lambda: chosen(real()[0], 9, noise=0.8),
    "one Gaussian": of_one_gaussian,
    "a mixture of 128 Gaussians": lambda: mixture(7),
}


@pytest.mark.parametrize("name", FORGED)
def test_it_earns_nothing(name):
    rows = FORGED[name]()
    assert outputs(rows, np.zeros((1, LATENT), np.float32)).shape == (1, 64)
    for seed in (20261, 5):
        seen = examine(lambda: rows, exercise(KEY).for_marks(seed))
        assert not seen.right and seen.budgets == (), seen.outcomes[-1].note()


def test_what_is_chosen_are_the_images():
    """Else the forgeries above would fail because of a slip in them."""
    images = (outputs(chosen(means(), 4), np.random.default_rng(2).normal(size=(50, LATENT)).astype("f4")) + 1) / 2
    assert np.abs(images[:, None] - means().clip(0.015, 0.985)).max(2).min(1).max() < 0.01
