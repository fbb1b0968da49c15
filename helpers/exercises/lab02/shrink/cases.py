from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsInt

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, seeds

TILE = (32, 8)
UNTOUCHED = np.float32(-7)


def _case(rows: int, columns: int, *, seed: int = 0) -> Case:
    pitch, out_pitch = 8 * cover(columns, 8) + 8, 8 * cover(columns // 2, 8)
    x = np.full((rows, pitch), np.nan, np.float32)  # what lies behind a row is not of the image
    x[:, :columns] = numbers((rows, columns), seed=seed or rows)
    initial = np.full((rows, out_pitch), UNTOUCHED)
    half = columns // 2
    wanted = initial.copy()
    wanted[:, :half] = (x[:, 0 : 2 * half : 2] + x[:, 1 : 2 * half : 2]) / 2
    sizes = map(np.int32, (rows, columns, pitch, out_pitch))
    longest = max(rows, half)  # so that both ways of using x and y reach every element
    grid = (cover(longest, TILE[0]), cover(longest, TILE[1]))
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}, pitch {pitch}"
    return Case(name, (x.ravel(), Out(wanted.ravel(), initial.ravel()), *sizes), grid, TILE)


def drawn(dice: np.random.Generator) -> list[Case]:
    shapes: list[Iterable[SupportsInt]] = [
        (1, dice.integers(3, 60)),
        (dice.integers(3, 9), dice.integers(60, 100)),
        (dice.integers(40, 70), 5),
    ]
    shapes += [(dice.integers(24, 40), dice.integers(130, 250))]
    return [_case(*map(int, shape), seed=seed) for shape, seed in zip(shapes, seeds(dice, 4), strict=True)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 2), (1, 71), (70, 3), (13, 37), (37, 26), (32, 128))]


def measured() -> Case:
    return _case(30, 200)
