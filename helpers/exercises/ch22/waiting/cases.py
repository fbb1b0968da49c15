from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helpers.checking.exercise import Case, plural

Work = Sequence[Sequence[float]] | np.ndarray
STEPS: tuple[tuple[Work, int], ...] = (
    (((3.0,),), 1),
    (((2.0, 5.0), (4.0, 1.0)), 1),
    (((2.0, 5.0), (4.0, 1.0)), 2),
    (((1.0, 1.0, 3.0), (1.0, 1.0, 3.0), (1.0, 1.0, 3.0), (1.0, 1.0, 3.0)), 2),
)
DRAWN = ((5, 4, 2), (6, 3, 3), (7, 2, 10), (8, 5, 4))  # steps, ranks, every


def _waits(work: np.ndarray, every: int) -> np.ndarray:
    total = np.zeros(work.shape[1])
    for start in range(0, len(work), every):
        group = work[start : start + every].sum(axis=0)
        total += group.max() - group
    return total


def _case(work: Work, every: int) -> Case:
    work = np.array(work)
    steps, ranks = work.shape
    name = f"{plural(steps, 'step')} of {plural(ranks, 'rank')}, together after every {every}"
    return Case(name, (work, every), expected=_waits(work, every))


def cases() -> list[Case]:
    dice = np.random.default_rng(22)
    drawn: list[tuple[Work, int]] = [(dice.integers(2, 12, (steps, ranks)) / 4, every) for steps, ranks, every in DRAWN]
    return [_case(*each) for each in (*STEPS, *drawn)]
