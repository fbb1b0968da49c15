from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers
from helpers.checking.measures import stored_again
from helpers.exercises.lab13 import shared

SIZES = ((1, 1, 1, 1, 1, 1), (1, 1, 3, 3, 1, 3), (2, 3, 5, 7, 4, 3), (3, 2, 8, 9, 5, 5), (1, 4, 9, 6, 3, 2))


def _case(n: int, c: int, h: int, w: int, k: int, r: int, seed: int = 1) -> Case:
    g, f = numbers((n, k, h - r + 1, w - r + 1), seed), numbers((k, c, r, r), seed + 1)
    wanted = Out(shared.grad_images(g, f), initial=np.zeros((n, c, h, w), np.float32))
    return Case(shared.name(n, c, h, w, k, r), (g, f, wanted), (cover(n * c * h * w, 128),), (128,))


def cases() -> list[Case]:
    return [_case(*size) for size in SIZES]


def measured() -> Case:
    return _case(4, *shared.MEASURED)


def drawn(dice: np.random.Generator) -> list[Case]:
    return [_case(*size) for size in shared.sizes(dice, (3, 7))]


MEASURES = {
    "bytes stored per byte needed": stored_again,
}
