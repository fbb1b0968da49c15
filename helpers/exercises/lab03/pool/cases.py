from __future__ import annotations

from functools import partial

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, seeds
from helpers.checking.measures import conflicts_per_shared_request, loaded_for_needed
from helpers.exercises.lab03.cases import SHAPES, shapes_drawn

BLOCK = (32, 8)


def _case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows)
    x = x - np.float32(9) if (rows + columns) % 2 else x  # then all of them are below zero
    padded = np.pad(x, 1, constant_values=-np.inf)
    wanted = np.max([padded[r : r + rows, c : c + columns] for r in range(3) for c in range(3)], axis=0)
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}"
    return Case(name, (x, Out(wanted)), (cover(columns, BLOCK[0]), cover(rows, BLOCK[1])), BLOCK)


def drawn(dice: np.random.Generator) -> list[Case]:
    shapes = shapes_drawn(dice)
    return [_case(*shape, seed) for shape, seed in zip(shapes, seeds(dice, len(shapes)), strict=True)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(64, 160)


MEASURES = {
    "bytes loaded per byte needed": loaded_for_needed,
    "bank conflicts per shared request": partial(conflicts_per_shared_request, most=8),
}
