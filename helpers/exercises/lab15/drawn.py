"""How lab 15 looks at what a generator draws: which digits, how near to real ones, and how varied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from helpers.checking.examine import Outcome
from helpers.checking.exercise import Case, Form
from helpers.checking.layers import outputs

GRADES = 16
"""Pixels go from 0 to this."""
LATENT, SIDE = 16, 8
FEW = 2
"""A digit counts as missing where fewer than this many of 100 images look like it."""
VOTES = 5
"""An image can be read where this many of the nearest real images show the same digit."""
COPY, NEARER = 6, 0.75
"""A copy is closer to its nearest real image than this, in per cent, or than this share of the way to the second.

One in ten held-out digits is that close to another one, and fewer than one in a hundred of a trained generator's.
"""
REPEAT = 5
"""An image that is closer than this to another drawn one, in per cent, repeats it. No two real digits are so close."""
ALIKE = 0.4
"""The images of a digit are too much alike where their variance is below this share of the real images' variance."""
MOST_COPIED = 20
"""Of 100 images: with more copies or repeats than this, nothing else about them is measured."""
MOST_LINEAR = 82
"""Per cent of the variance that a linear map of the latents may explain: of one Gaussian it explains 85 or more, of
trained generators up to 78."""
MOST_LINEAR_WITHIN = 88
"""Per cent of the variance within digits that a linear map for each digit may explain: of class means with added noise
it explains 93 or more, of trained generators up to 75."""
FEWEST = 40
"""Images of a digit from which on it's asked how linear they are."""
LEAST_DETAIL = 0.5
"""The variance in all directions but the first `LATENT`, of those in which real images vary, most first; as a multiple
of the real images'. Blurred images have less, trained generators 1.2 to 1.5."""
HARDLY, MOST_DETAIL = slice(48, 54), 7
"""Directions in which real images hardly vary, and the most that the median of the variances in them may be, as
multiples of the real images'. A training may go astray in a few of them, so their mean says little: the median is 0.5
to 3. Added noise shows in all of them: it is 8 or more where there's enough noise to hide that images are copies."""

ARCS, STEPS, MOST_JUMPED = 40, 64, 0.06
"""Of what images change along an arc of latents, one of its steps may make this share on average. Of trained
generators it makes up to 0.035, of stored images chosen by signs of the latents 0.3, and by softer steps 0.08."""


@cache
def real() -> tuple[np.ndarray, np.ndarray]:
    """Real images as rows from 0 to 1, and their digits."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    return digits.data.astype(np.float64) / GRADES, digits.target


def distances(images: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The root mean square difference of the pixels of each two images, in per cent of the range of pixels."""
    squares = (images**2).sum(1)[:, None] + (others**2).sum(1) - 2 * images @ others.T
    return 100 * np.sqrt(np.maximum(squares, 0) / others.shape[1])


class Seen:
    """Images (n, 64) from 0 to 1 beside the real ones."""

    def __init__(self, images: np.ndarray):
        pixels, labels = real()
        away = distances(images, pixels)
        order = np.argpartition(away, VOTES, axis=1)[:, :VOTES]
        order = np.take_along_axis(order, np.take_along_axis(away, order, 1).argsort(1), 1)
        first, second = np.take_along_axis(away, order[:, :2], 1).T
        self.images, self.away, self.digits = images, first, labels[order[:, 0]]
        self.readable = (labels[order] == self.digits[:, None]).all(1)
        self.copied = (first < COPY) | (first < NEARER * second)
        between = distances(images, images)
        np.fill_diagonal(between, np.inf)
        self.repeated = between.min(1) < REPEAT

    def _share(self, which: np.ndarray) -> float:
        return 100 * float(which.mean())

    @property
    def missing(self) -> int:
        """Digits of ten that are hardly ever drawn."""
        counts = np.bincount(self.digits[~self.copied], minlength=10)
        return int((100 * counts < FEW * len(self.digits)).sum())

    @property
    def distance(self) -> float:
        """The mean distance to the nearest real image, a copy being as far away as can be; to a hundredth, as further
        digits of a training differ from machine to machine."""
        return round(float(np.where(self.copied, 100, self.away).mean()), 2)

    @property
    def unreadable(self) -> float:
        """Of 100 images."""
        return self._share(~self.readable)

    @property
    def copies(self) -> float:
        """Copies of real images and repeats, of 100 images."""
        return self._share(self.copied | self.repeated)

    @property
    def alike(self) -> int:
        """Digits of ten whose images are missing or vary too little."""
        pixels, labels = real()
        return sum(
            (self.digits == digit).sum() < 2
            or self.images[self.digits == digit].var(0).sum() < ALIKE * pixels[labels == digit].var(0).sum()
            for digit in range(10)
        )


def measure(name: str) -> Callable[[Outcome], Any]:
    """The measure of a budget: what `Seen` says by this name."""
    return lambda outcome: getattr(outcome.played, name)


def _tell(images: np.ndarray, _truth: object) -> str:
    """What images are like, roughly."""
    seen = Seen(images)
    if images.std(0).max() < 0.15:
        return "one image"
    if seen.away.mean() > 30:
        return "noise"
    if seen.away.mean() > 24:
        return "far from digits"
    return "few digits" if len(np.unique(seen.digits)) < 5 else ""


def linear(latents: np.ndarray, images: np.ndarray, groups: Sequence[np.ndarray | slice] = (slice(None),)) -> float:
    """How much of the variance within `groups` of images a linear map for each explains, in per cent: of the pixels, or
    of what a final tanh was given, whichever is more; 0 without groups.

    Variances are estimated without bias, so that few images in a group don't look linear.
    """

    def left(x: np.ndarray, values: np.ndarray) -> float:
        inputs = np.column_stack([x, np.ones(len(x))])
        rest = values - inputs @ np.linalg.lstsq(inputs, values, rcond=None)[0]
        return float((rest**2).sum()) / (len(x) - inputs.shape[1]) * len(x)

    def explained(values: np.ndarray) -> float:
        whole = sum(left(np.empty((len(values[group]), 0)), values[group]) for group in groups)
        return 100 * (1 - sum(left(latents[group], values[group]) for group in groups) / max(whole, 1e-12))

    both = (images, np.arctanh(np.clip(2 * images - 1, -0.95, 0.95)))
    return max(explained(values) for values in both) if len(groups) else 0


@cache
def _directions() -> tuple[np.ndarray, np.ndarray]:
    """The mean real image, and the directions in which real images vary, most first."""
    pixels, _ = real()
    mean = pixels.mean(0)
    return mean, np.linalg.svd(pixels - mean, full_matrices=False)[2]


def spread(images: np.ndarray) -> np.ndarray:
    """The mean square of the distance from the mean real image, in each direction."""
    mean, rows = _directions()
    return (((images - mean) @ rows.T) ** 2).mean(0)


def arcs(seed: int) -> np.ndarray:
    """Latents along `ARCS` arcs of `STEPS` steps, each from one draw of the normal distribution to another."""
    first, last = np.random.default_rng(seed).normal(size=(2, ARCS, 1, LATENT))
    angle = np.linspace(0, np.pi / 2, STEPS + 1)[:, None]
    return (np.cos(angle) * first + np.sin(angle) * last).astype(np.float32).reshape(-1, LATENT)


def jumped(images: np.ndarray) -> float:
    """How much of the way along an arc the longest of its steps makes, on average. images: of the latents of `arcs`."""
    lengths = np.linalg.norm(np.diff(images.reshape(ARCS, STEPS + 1, -1), axis=1), axis=2)
    return float((lengths.max(1) / np.maximum(lengths.sum(1), 1e-12)).mean())


def _degenerate(latents: np.ndarray, images: np.ndarray, along: np.ndarray) -> str:
    """Why no training leads to such images; "" where nothing speaks against it. along: images of `arcs`."""
    seen = Seen(images)
    if seen.copies > MOST_COPIED:
        return f"images of which more than {MOST_COPIED} of 100 repeat others or copy real ones"
    if jumped(along) > MOST_JUMPED:
        return "images that jump from one to another where the latents hardly change"
    if linear(latents, images) > MOST_LINEAR:
        return "images that are a linear map of the latents"
    drawn, wanted = spread(images), spread(real()[0])
    if drawn[LATENT:].sum() < LEAST_DETAIL * wanted[LATENT:].sum():
        return "images with too little fine detail"
    if np.median(drawn[HARDLY] / wanted[HARDLY]) > MOST_DETAIL:
        return "images with too much fine detail"
    digits = [group for digit in range(10) if (group := seen.digits == digit).sum() >= FEWEST]
    within = linear(latents, images, digits)
    return "images that are a linear map of the latents within each digit" if within > MOST_LINEAR_WITHIN else ""


def drawing(count: int, seed: int) -> Case:
    """A generator as layers, evaluated on `count` latents that a seed draws."""
    latents = np.random.default_rng(seed).normal(size=(count, LATENT)).astype(np.float32)
    along: list[np.ndarray] = []

    def plays(layers: Sequence) -> tuple[np.ndarray, Seen | None]:
        images = outputs(layers, latents)
        along[:] = [outputs(layers, arcs(seed + 1))]
        images = (images.reshape(count, -1).astype(np.float64) + 1) / 2
        if images.shape[1] != SIDE * SIDE or not np.isfinite(images).all():
            return images, None
        return images, Seen(images)

    form = Form((count, SIDE * SIDE), "f", 0, 1, tell=_tell, also=lambda images: _degenerate(latents, images, *along))
    return Case(f"{count} latents", (), expected=form, plays=plays)
