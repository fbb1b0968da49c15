from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, numbers
from helpers.exercises.lab13 import shared

SIZES = ((1, 1, 1, 1, 1, 1), (1, 1, 3, 3, 1, 3), (2, 3, 5, 7, 4, 3), (3, 2, 8, 9, 5, 5))
EXPANDED = (2, 2, 5, 6, 3, 2)


def _case(n: int, c: int, h: int, w: int, k: int, r: int, seed: int = 1, *, one: bool = False) -> Case:
    x, f = numbers((n, c, h, w), seed), numbers((k, c, r, r), seed + 1)
    g = numbers((1, 1, 1, 1) if one else (n, k, h - r + 1, w - r + 1), seed + 2)
    full = np.broadcast_to(g, (n, k, h - r + 1, w - r + 1))
    wanted = tuple(
        np.ascontiguousarray(each, np.float32)
        for each in (shared.convolved(x, f), shared.grad_images(full, f), shared.grad_weights(x, full, r))
    )
    called = shared.name(n, c, h, w, k, r) + (", one gradient for all" if one else "")
    return Case(called, (x, f, g), expected=wanted)


def drawn(dice: np.random.Generator) -> list[Case]:
    first, second, _ = shared.sizes(dice, (2, 3))
    third = (*second[:-1], second[-1] + 1)
    return [_case(*first), _case(*second), _case(*third, one=True)]


def cases() -> list[Case]:
    return [*(_case(*size) for size in SIZES), _case(*EXPANDED, one=True)]
