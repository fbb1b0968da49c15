from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural
from helpers.checking.measures import loaded_for_needed, per_warp
from helpers.exercises.lab04.budgets import (
    BLOCK,
    BLOCKS,
    beside_one_ticket,
)

BINS = 64


def _case(n: int, seed: int = 0, hot: float = 0.0, best: int | None = None, with_last: bool = False) -> Case:
    """About `n` values, of which `hot` are two: one occurs once more than the other, `best`, or both equally often. One
    of the two may be the last bin."""
    dice = np.random.default_rng(seed or n)
    values, name = dice.integers(0, BINS, n).astype(np.int32), ""
    if n > 1:
        first, second = np.sort(dice.choice(BINS, 2, replace=False)) if best is None else (best, (best + 32) % BINS)
        if with_last:
            first, second = min(first, BINS - 2), BINS - 1
        values = np.where(dice.random(n) < hot, np.where(dice.random(n) < 0.5, first, second), values).astype(np.int32)
        most = _often(values).max() + 1
        wanted = ((second, most), (first, most if best is None else most + 1))
        extra = [np.full(count - _often(values)[value], value, np.int32) for value, count in wanted]
        values, name = np.concatenate([values, *extra]), ", two of them in most places" if hot else ""
    out = Out(np.array([_often(values).argmax()], np.int32))
    arguments = (values, np.zeros((BLOCKS, BINS), np.int32), np.zeros(1, np.int32), out)
    return Case(plural(values.size, "value") + name, arguments, (BLOCKS,), (BLOCK,))


def _often(values: np.ndarray) -> np.ndarray:
    return np.bincount(values, minlength=BINS)


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (1, 0.0, None),
        (int(dice.integers(2, 97)), 0.0, None),
        (int(dice.integers(2, 97)), 0.0, BINS - 1),
        (int(dice.integers(600, 999)), 0.0, 0),
        (int(dice.integers(1500, 2500)), 0.6, None),
        (int(dice.integers(4000, 6000)), 0.6, int(dice.integers(0, BINS))),
    ]
    drawn = [_case(n, int(dice.integers(1, 10**6)), hot, best) for n, hot, best in sizes]
    return [_case(int(dice.integers(98, 400)), int(dice.integers(1, 10**6)), with_last=True), *drawn]


def cases() -> list[Case]:
    return [
        _case(1),
        _case(31, best=1),
        *map(_case, (97, 600, 849)),
        *(_case(n, hot=0.4, best=best) for n, best in ((1021, 63), (700, 0))),
    ]


def measured() -> Case:
    return _case(5000, hot=0.6, best=11)


MEASURES = {
    "barriers per warp": per_warp("synchronisations"),
    "global atomics per block, more or fewer than one": beside_one_ticket,
    "bytes loaded per byte needed": loaded_for_needed,
}
