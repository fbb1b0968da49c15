from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, plural

BLOCK = 64
SHAPES = (
    *((1, 1, 0), (5, 3, -2), (64, 10, 0), (65, 7, 30), (100, 10, -400), (9, 9, 0, 300), (40, 2, 0, 300)),
    (33, 2000, -8, 0.25, True),
)


def _case(rows: int, columns: int, centre: float, spread: float = 6, peak: bool = False) -> Case:
    """Logits around a centre; with a `peak` the first of each row is 0, so that the others add up beside it."""
    dice = np.random.default_rng(rows + columns)
    x = (centre + spread * dice.integers(-24, 25, (columns, rows)) / 24).astype(np.float16)
    if peak:
        x[0] = 0
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(axis=0))
    wanted = (powers / powers.sum(axis=0)).astype(np.float16)
    name = f"{plural(rows, 'row')} of {plural(columns, 'logit')} from {centre - spread:g} to {centre + spread:g}"
    name += ", and a 0" * peak
    return Case(name, (x, Out(wanted), np.int32(rows), np.int32(columns)), (cover(rows, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(64, 32, 0)


MEASURES = {
    "sectors per load request": lambda p: p["sectors_per_load_request"],
}
