from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, seeds
from helpers.exercises.lab03.cases import SHAPES, shapes_drawn

TILE, BLOCK = 32, (32, 8)


def _case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows)
    arguments = (x, Out(np.rot90(x, -1).copy()), np.int32(rows), np.int32(columns))
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}"
    return Case(name, arguments, (cover(columns, TILE), cover(rows, TILE)), BLOCK)


def drawn(dice: np.random.Generator) -> list[Case]:
    shapes = shapes_drawn(dice)
    return [_case(*shape, seed) for shape, seed in zip(shapes, seeds(dice, len(shapes)), strict=True)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(96, 160)
