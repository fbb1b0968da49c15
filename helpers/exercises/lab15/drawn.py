"""How lab 15 judges a conditional generator: which digits it draws, how many variants of each, and by what kind of map.

Real images are drawn from a seed, so no student has seen them. Precision and recall are those of chapter 21, within
each digit and on pixels: around each image of a set is a ball that reaches to its third nearest neighbour in the set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from helpers.checking.examine import Outcome
from helpers.checking.exercise import Case, Form
from helpers.checking.layers import outputs
from helpers.data import glyphs

LOOK = glyphs.Look(shift=1.5, rotation=10, size=(18, 21), shear=0.1, clutter=0, light=0, noise=0)
"""As in the lab's notebook."""
EDGE, DIGITS, LATENT = 16, 10, 16
REAL, COMPARED = 200, 60
"""Real images of each digit that drawn ones are compared with, and images of each digit on both sides of recall."""
MANY = 150
"""Images of each digit that are drawn."""
NEIGHBOURS = 3
HARDLY = 20
"""A digit hardly varies where less than this share of its real images, in per cent, is near a drawn one."""
LEAST_BEYOND = 3
"""Per cent of the variance within digits that lies beyond the first `LATENT` directions, before the final tanh. Where
the latents, bent or mixed in any way, are mapped linearly to a digit's pixels, nothing lies there: of Gaussians and of
up to 17 stored images a digit it's below 1, of trained generators 7 or more, of real images 15."""
LIMIT = 0.9999
"""The largest value that is taken back through tanh."""

ARCS, STEPS, MOST_JUMPED = 40, 64, 0.06
"""Of what images change along an arc of latents, one of its steps may make this share on average. Of trained
generators it makes up to 0.03, of stored images chosen by signs of the latents 0.3, and by softer steps 0.08."""


def real(count: int, seed: int) -> np.ndarray:
    """`count` real images of each digit as rows from -1 to 1, digit by digit."""
    labels = np.repeat(np.arange(DIGITS), count)
    pixels, _ = glyphs.images(len(labels), seed, edge=EDGE, look=LOOK, labels=labels)
    return 2 * pixels.reshape(len(labels), -1).astype(np.float64) - 1


def inputs(count: int, seed: int) -> np.ndarray:
    """What a generator gets for `count` images of each digit, digit by digit: latents, and the digit as one of ten."""
    latents = np.random.default_rng(seed).normal(size=(DIGITS * count, LATENT))
    return np.hstack([latents, np.repeat(np.eye(DIGITS), count, 0)]).astype(np.float32)


def distances(images: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The Euclidean distance of each two rows."""
    squares = (images**2).sum(1)[:, None] + (others**2).sum(1) - 2 * images @ others.T
    return np.sqrt(np.maximum(squares, 0))


def inside(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Which points are in the ball of at least one centre, in bool."""
    radius = np.partition(distances(centres, centres), NEIGHBOURS, axis=1)[:, NEIGHBOURS]  # the nearest is itself
    return np.any(distances(points, centres) <= radius, axis=1)


class Seen:
    """Images (10 · MANY, 256) from -1 to 1, digit by digit, beside real ones. Shares are in per cent."""

    def __init__(self, images: np.ndarray, seed: int):
        there = real(REAL, seed).reshape(DIGITS, REAL, -1)
        drawn = images.reshape(DIGITS, MANY, -1)
        like = [inside(d[:COMPARED], r) for d, r in zip(drawn, there, strict=True)]
        covered = [inside(r[:COMPARED], d[:COMPARED]) for d, r in zip(drawn, there, strict=True)]
        self.unlike = 100 - 100 * float(np.mean(like))
        self.uncovered = 100 - 100 * float(np.mean(covered))
        self.hardly = sum(bool(100 * each.mean() < HARDLY) for each in covered)


def measure(name: str) -> Callable[[Outcome], Any]:
    """The measure of a budget: what `Seen` says by this name."""
    return lambda outcome: getattr(outcome.played, name)


def _tell(images: np.ndarray, seed: int) -> str:
    """What images are like, roughly, beside real ones that `seed` draws."""
    truth = real(MANY, seed)

    def roughness(rows: np.ndarray) -> float:
        return float(np.abs(np.diff(rows.reshape(-1, EDGE, EDGE), axis=2)).mean())

    if images.std(0).max() < 0.3:
        return "one image"
    if roughness(images) > 2 * roughness(truth):
        return "noise"
    drawn, there = (each.reshape(DIGITS, MANY, -1) for each in (images, truth))
    if drawn.std(1).mean() < 0.15:
        return "one image for each digit"
    nearest = distances(drawn.mean(1), there.mean(1)).argmin(1)
    return "" if (nearest == np.arange(DIGITS)).sum() > 7 else "other digits"


def beyond(images: np.ndarray) -> float:
    """The share of the variance within digits beyond the first `LATENT` principal directions before tanh, in per cent.

    images: as for `Seen`.
    """
    values = np.arctanh(np.clip(images, -LIMIT, LIMIT)).reshape(DIGITS, MANY, -1)
    sizes = np.linalg.svd(values - values.mean(1, keepdims=True), compute_uv=False) ** 2
    return 100 * float((sizes[:, LATENT:].sum(1) / np.maximum(sizes.sum(1), 1e-12)).mean())


def arcs(seed: int) -> np.ndarray:
    """Inputs along `ARCS` arcs of `STEPS` steps, each from one draw of the latents to another, for the same digit."""
    dice = np.random.default_rng(seed)
    first, last = dice.normal(size=(2, ARCS, 1, LATENT))
    angle = np.linspace(0, np.pi / 2, STEPS + 1)[:, None]
    latents = np.cos(angle) * first + np.sin(angle) * last
    digits = np.broadcast_to(np.eye(DIGITS)[np.arange(ARCS) % DIGITS, None], (ARCS, STEPS + 1, DIGITS))
    return np.concatenate([latents, digits], 2).astype(np.float32).reshape(-1, LATENT + DIGITS)


def jumped(images: np.ndarray) -> float:
    """How much of the way along an arc the longest of its steps makes, on average. images: of the inputs of `arcs`."""
    lengths = np.linalg.norm(np.diff(images.reshape(ARCS, STEPS + 1, -1), axis=1), axis=2)
    return float((lengths.max(1) / np.maximum(lengths.sum(1), 1e-12)).mean())


def _map(images: np.ndarray, along: np.ndarray) -> str:
    """Why no training leads to such images; "" where nothing speaks against it. along: images of `arcs`."""
    if jumped(along) > MOST_JUMPED:
        return "images that jump from one to another where the latents hardly change"
    if beyond(images) < LEAST_BEYOND:
        return f"images of each digit that vary in {LATENT} directions only, as a linear map of the latents does"
    return ""


def drawing(seed: int, called: str) -> Case:
    """A generator as layers, evaluated on `MANY` inputs for each digit that a seed draws."""
    given = inputs(MANY, seed)
    along: list[np.ndarray] = []

    def plays(layers: Sequence) -> tuple[np.ndarray, Seen | None]:
        images = outputs(layers, given)
        along[:] = [outputs(layers, arcs(seed + 1))]
        images = images.reshape(len(given), -1).astype(np.float64)
        if images.shape[1] != EDGE * EDGE or not np.isfinite(images).all():
            return images, None
        return images, Seen(images, seed + 2)

    shape = len(given), EDGE * EDGE
    form = Form(shape, "f", -1, 1, seed + 3, _tell, also=lambda images: _map(images, *along))
    return Case(called, (), expected=form, plays=plays)
