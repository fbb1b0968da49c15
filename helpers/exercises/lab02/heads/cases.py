from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsInt

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, seeds

BLOCK = 128
SHAPES = ((1, 1, 1), (1, 3, 31), (31, 3, 1), (5, 4, 7), (4, 5, 13), (16, 2, 32))


def _case(tokens: int, heads: int, size: int, *, seed: int = 0) -> Case:
    x = numbers((tokens, heads, size), seed=seed or tokens)
    name = f"{plural(tokens, 'token')} × {plural(heads, 'head')} × {size}"
    return Case(name, (x, Out(x.swapaxes(0, 1).copy())), (cover(x.size, BLOCK),), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    shapes: list[Iterable[SupportsInt]] = [
        dice.integers(2, 9, 3),
        dice.integers(3, 14, 3),
        (dice.integers(33, 60), 1, 5),
    ]
    shapes += [(dice.integers(20, 36), dice.integers(3, 7), 8 * dice.integers(5, 9))]
    return [_case(*map(int, shape), seed=seed) for shape, seed in zip(shapes, seeds(dice, 4), strict=True)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(30, 4, 40)
