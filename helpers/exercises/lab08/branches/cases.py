from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case
from helpers.checking.stream_work import Out
from helpers.exercises.lab08 import budgets as shared
from helpers.exercises.lab08.budgets import SERIES, STEPS, smoothed

TIMES = 8
"""How often the third part is smoothed."""


def _case(steps: int, series: int, seed: int = 1) -> Case:
    x, y, z = (shared.values(steps, series, seed=seed + k) for k in range(3))
    wanted = smoothed(smoothed(x) + smoothed(y)) + smoothed(z, times=TIMES)
    return Case(f"{steps} × {series}", (x, y, z, Out(wanted)), block=shared.BLOCK)


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(1, int(dice.integers(2, 30))), (int(dice.integers(3, 40)), 131), (int(dice.integers(41, 70)), 257)]
    return [_case(*size, shared.seed_of(dice)) for size in (*sizes, (STEPS, SERIES))]


def cases() -> list[Case]:
    return [_case(*size) for size in ((1, 1), (7, 31), (16, 97), (33, 128), (5, 300))]


def measured() -> Case:
    return _case(STEPS, SERIES)


MEASURES = {
    "modelled us": shared.modelled_time,
}
