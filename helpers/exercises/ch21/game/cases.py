from __future__ import annotations

import math

from helpers.checking.exercise import Case

# name, how often each image occurs among the real ones, and how often the generator makes it
GAMES = (
    ("a perfect generator, one image", [1.0], [1.0]),
    ("a perfect generator, three images", [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]),
    ("nothing in common", [1.0, 0.0], [0.0, 1.0]),
    ("a collapsed generator", [0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0]),
    ("one kind of image is missing", [0.5, 0.25, 0.25], [0.5, 0.5, 0.0]),
    ("an image that neither makes", [0.5, 0.5, 0.0], [0.75, 0.25, 0.0]),
    ("three times as often, and a third", [0.75, 0.25], [0.25, 0.75]),
)


def _best_loss(real: list[float], made: list[float]) -> float:
    loss = 0.0
    for p, q in zip(real, made, strict=True):
        loss -= (p * math.log(p / (p + q)) if p else 0) + (q * math.log(q / (p + q)) if q else 0)
    return loss


def cases() -> list[Case]:
    return [Case(name, tuple(given), expected=_best_loss(*given)) for name, *given in GAMES]
