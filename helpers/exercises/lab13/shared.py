"""What the exercises of lab 13 share: convolutions in NumPy, limits, and the digits that a network is tried on."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Form
from helpers.checking.measures import outside_registers, stored_again, total

ENDED = ("mask_ended", "barrier_ended")  # what such lanes would send is undefined, and a barrier wants the whole block
MEASURED = (8, 6, 6, 16, 3)
"""Channels, height, width, filters and their edge in the launches that are counted."""
MEAN, STD = 4.9, 6.0
"""What pixels from 0 to 16 are taken less, and divided by, before a network sees them."""


def windows(x: np.ndarray, r: int) -> np.ndarray:
    """(n, c, h, w) -> (n, c, h - r + 1, w - r + 1, r, r): what a filter of edge `r` sees from each place."""
    return np.lib.stride_tricks.sliding_window_view(x, (r, r), (2, 3))


def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Images (n, c, h, w) under filters (k, c, r, r): (n, k, h - r + 1, w - r + 1)."""
    return np.einsum("ncpqab,kcab->nkpq", windows(x, w.shape[-1]), w)


def by_images(g: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient by the images, of the gradient `g` by what came out."""
    edge = w.shape[-1] - 1
    padded = np.pad(g, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
    return convolved(padded, w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3))


def by_weights(x: np.ndarray, g: np.ndarray, r: int) -> np.ndarray:
    """The gradient by the filters, whose edge is `r`."""
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


NO_ATOMICS = Budget(
    "atomics",
    total("global_update_requests", "shared_atomic_requests"),
    0,
    "Let one thread, or one block, own each sum: nobody else adds to it, and its order never changes.",
    "global_atomic_requests",
)
STORED_ONCE = Budget(
    "bytes stored per byte needed",
    stored_again,
    1.05,
    "Add up in a register, and store once.",
    "global_store_sectors",
)
SHARED_A_WARP = Budget(
    "shared requests per warp",
    lambda profile: outside_registers("shared_requests")(profile) / profile.counters.warps,
    5,
    "Within a warp lanes add by shuffles. One number a warp is left to store, and four to add.",
    "shared_load_requests",
)

# -- digits


def _digits(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """So many of the digits that nobody trains on, every third, each turned, moved and lit a little, with noise.

    Returns pixels of shape (count, 8, 8) in float32, and labels.
    """
    from scipy.ndimage import affine_transform
    from sklearn.datasets import load_digits

    dice, held = np.random.default_rng(seed), load_digits()
    which = 3 * dice.permutation(len(held.images[::3]))[:count]
    found = np.empty((count, 8, 8), np.float32)
    centre = np.array([3.5, 3.5])
    for image, made in zip(held.images[which], found, strict=True):
        angle, scale = np.deg2rad(dice.uniform(-6, 6)), dice.uniform(0.96, 1.04)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / scale
        made[:] = affine_transform(image, turn, centre - turn @ (centre + dice.uniform(-0.25, 0.25, 2)), order=1)
    found = found * dice.uniform(0.9, 1.1, (count, 1, 1)) + dice.normal(0, 0.4, found.shape)
    return found.astype(np.float32), held.target[which]


def _tell(labels: np.ndarray, truth: np.ndarray) -> str:
    """What labels are like, roughly."""
    if len(truth) < 100:
        return ""
    right = [float(np.mean((labels + shift) % 10 == truth)) for shift in range(10)]
    if len(np.unique(labels)) == 1:
        return "one label for all"
    if max(right[1:]) > 0.5:
        return f"another digit, by {int(np.argmax(right))}"
    return "no better than chance" if right[0] < 0.4 else "often wrong" if right[0] < 0.83 else ""


def images(count: int, seed: int) -> Case:
    pixels, labels = _digits(seed, count)
    called = f"{count} image{'s' * (count > 1)} that nobody trained on"
    return Case(called, (pixels,), expected=Form((count,), "i", 0, 9, labels, _tell))


def wrong_of_100(outcome) -> float:
    """Wrong labels, of 100."""
    return 100 * float(np.mean(outcome.got != outcome.case.expected.truth))
