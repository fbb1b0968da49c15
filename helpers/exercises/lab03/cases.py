"""Shapes for a picture or rows of numbers: a row, a column, one that whole tiles cover, and ones between."""

from __future__ import annotations

import numpy as np

SHAPES = ((1, 1), (1, 70), (70, 1), (13, 37), (64, 32), (33, 95))


def shapes_drawn(dice: np.random.Generator) -> list[tuple[int, int]]:
    """A row, a column, an odd shape, and one whose rows begin at a sector, which is counted."""
    odd = [(1, int(dice.integers(2, 100))), (int(dice.integers(2, 100)), 1)]
    rows, columns = map(int, dice.integers(5, 80, 2))
    return [*odd, (rows, columns), (8 * int(dice.integers(8, 13)), 8 * int(dice.integers(13, 20)))]
