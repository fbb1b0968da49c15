from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, cover

THREADS, MOST_BLOCKS = 256, 65_535
SHAPES = (
    (1, 1), (8, 32), (9, 33), (480, 640), (37, 13), (13, 37), (1000, 3), (1000, 16), (1000, 17),
    (524_280, 32), (524_281, 32), (4_000_000, 100), (9_000_000, 1),
)  # fmt: skip


def _case(rows: int, columns: int) -> Case:
    width = 32
    while width // 2 >= columns:
        width //= 2
    height = THREADS // width
    wanted = (cover(columns, width), min(MOST_BLOCKS, cover(rows, height))), (width, height)
    return Case(f"configure({rows:,}, {columns:,})", (rows, columns), expected=wanted)


def drawn(dice: np.random.Generator) -> list[Case]:
    high, low = dice.integers(600_000, 9_000_000, 2), dice.integers(1, 5000, 6)
    widths = (*dice.integers(1, 32, 4), *dice.integers(33, 4000, 4))
    return [_case(int(rows), int(columns)) for rows, columns in zip((*high, *low), widths, strict=True)]


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]
