"""What the exercises of lab 13 share: convolutions in NumPy, limits, and the digits that a network is tested on."""

from __future__ import annotations

import numpy as np

from helpers.checking.examine import Outcome
from helpers.checking.exercise import Case, Form
from helpers.data import digits

MEASURED = (8, 6, 6, 16, 3)
"""Channels, height, width, filters and their edge in the launches that are counted."""


def windows(x: np.ndarray, r: int) -> np.ndarray:
    """(n, c, h, w) -> (n, c, h - r + 1, w - r + 1, r, r): what a filter of edge `r` sees from each place."""
    return np.lib.stride_tricks.sliding_window_view(x, (r, r), (2, 3))


def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Images (n, c, h, w) under filters (k, c, r, r): (n, k, h - r + 1, w - r + 1)."""
    return np.einsum("ncpqab,kcab->nkpq", windows(x, w.shape[-1]), w)


def by_images(g: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient with respect to the images, for the gradient `g` with respect to the result."""
    edge = w.shape[-1] - 1
    padded = np.pad(g, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
    return convolved(padded, w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3))


def by_weights(x: np.ndarray, g: np.ndarray, r: int) -> np.ndarray:
    """The gradient with respect to the filters, whose edge is `r`."""
    return np.einsum("ncpqab,nkpq->kcab", windows(x, r), g)


def name(n: int, c: int, h: int, w: int, k: int, r: int) -> str:
    return f"{n} × {c} × {h} × {w} under {k} × {r} × {r}"


def sizes(dice: np.random.Generator, images: tuple[int, int]) -> list[tuple[int, ...]]:
    """Three sizes of images and filters, the last of which is counted: n, c, h, w, k, r; and a seed for each."""
    drawn = []
    for _ in range(2):
        r, (n, c, k) = int(dice.integers(1, 5)), dice.integers(1, 5, 3)
        h, w = dice.integers(r, r + 9, 2)
        drawn.append((int(n), int(c), int(h), int(w), int(k), r, int(dice.integers(1, 10**6))))
    return [*drawn, (int(dice.integers(*images)), *MEASURED, int(dice.integers(1, 10**6)))]


# -- digits


def _tell(labels: np.ndarray, truth: np.ndarray) -> str:
    """What labels are like, roughly."""
    if len(truth) < 100:
        return ""
    right = [float(np.mean((labels + shift) % 10 == truth)) for shift in range(10)]
    if len(np.unique(labels)) == 1:
        return "one label for all"
    if max(right[1:]) > 0.5:
        return f"another digit, by {int(np.argmax(right))}"
    return "no better than chance" if right[0] < 0.4 else "often wrong" if right[0] < 0.82 else ""


def images(count: int, seed: int) -> Case:
    """Digits that nobody trained on: those of the lab's notebook have other seeds."""
    pixels, labels = digits.images(count, seed)
    called = f"{count} new image{'s' * (count > 1)}"
    return Case(called, (pixels,), expected=Form((count,), "i", 0, 9, labels, _tell))


def wrong_of_100(outcome: Outcome) -> float:
    """Wrong labels, of 100."""
    return 100 * float(np.mean(outcome.got != outcome.case.expected.truth))
