"""What the exercises of lab 13 share: convolutions in NumPy, and the digits that a network is tested on."""

from __future__ import annotations

import numpy as np

from helpers.checking.examine import Outcome
from helpers.checking.exercise import Case, Form
from helpers.data import glyphs

MEASURED = (8, 6, 6, 16, 3)
"""Channels, height, width, filters and their edge in the launches that are counted."""


def windows(x: np.ndarray, r: int) -> np.ndarray:
    """(n, c, h, w) -> (n, c, h - r + 1, w - r + 1, r, r): what a filter of edge `r` sees at each position."""
    return np.lib.stride_tricks.sliding_window_view(x, (r, r), (2, 3))


def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Images (n, c, h, w) under filters (k, c, r, r): (n, k, h - r + 1, w - r + 1)."""
    return np.einsum("ncpqab,kcab->nkpq", windows(x, w.shape[-1]), w)


def grad_images(g: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient with respect to the images, for the gradient `g` with respect to the result."""
    edge = w.shape[-1] - 1
    padded = np.pad(g, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
    return convolved(padded, w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3))


def grad_weights(x: np.ndarray, g: np.ndarray, r: int) -> np.ndarray:
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

LOOK = glyphs.Look(shift=5, size=(13, 17), rotation=10, shear=0.1, clutter=1, noise=0.03)
"""As in the lab's notebook. What gets how many of these images wrong is in tests/labs/test_baselines.py."""
EDGE = 20


def _tell(labels: np.ndarray, truth: np.ndarray) -> str:
    """What labels are like, roughly."""
    if len(truth) < 100:
        return ""
    right = [float(np.mean((labels + shift) % 10 == truth)) for shift in range(10)]
    if len(np.unique(labels)) == 1:
        return "one label for all"
    if max(right[1:]) > 0.5:
        return f"another digit, by {int(np.argmax(right))}"
    if right[0] < 0.25:
        return "no better than chance"
    return "often wrong" if right[0] < 0.65 else "sometimes wrong" if right[0] < 0.8 else ""


def images(count: int, seed: int) -> Case:
    """Digits from fonts that the notebook doesn't train on."""
    pixels, labels = glyphs.images(count, seed, edge=EDGE, look=LOOK, held_out=True)
    called = f"{count} new image{'s' * (count > 1)}"
    return Case(called, (pixels,), expected=Form((count,), "i", 0, 9, labels, _tell))


def wrong_of_100(outcome: Outcome) -> float:
    """Wrong labels, of 100."""
    return 100 * float(np.mean(outcome.got != outcome.case.expected.truth))
