from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import total

BLOCK = 128


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    v, even = x.astype(np.float64), np.arange(n) % 2 == 0
    for _ in range(64):
        v = np.where(even, 0.99 * v + 1.0, 1.01 * v - 1.0)
    return Case(plural(n, "element"), (x, Out(v.astype(np.float32))), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 2, 31, 64, 97, 128, 1021)]


def measured() -> Case:
    return _case(2048)


MEASURES = {
    "warp instructions for 2,048 elements": total("instructions"),
}
