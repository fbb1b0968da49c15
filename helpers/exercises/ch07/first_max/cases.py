from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural
from helpers.exercises.ch07.budgets import of_the_busiest_warp

THREADS = 256


def _case(rows: int, n: int, *, below_zero: bool = False) -> Case:
    x = (
        np.random.default_rng(n).integers(1, 3 + n // 2, (rows, n)).astype(np.float32)
    )  # so few values that many are equal
    x = -x - 8 if below_zero else x
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}" + (", all below zero" if below_zero else "")
    return Case(name, (x, Out(x.argmax(axis=1).astype(np.int32)), np.int32(n)), (rows,), (THREADS,))


def cases() -> list[Case]:
    return [
        _case(1, 1, below_zero=True),
        _case(3, 31),
        _case(5, 97, below_zero=True),
        _case(4, 128),
        _case(7, 251),
        _case(6, 256),
    ]


def measured() -> Case:
    return _case(4, 256)


MEASURES = {
    "instructions of the busiest warp": of_the_busiest_warp,
}
