from __future__ import annotations

from functools import partial

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, seeds
from helpers.checking.measures import idle_lanes, instructions_for_written

BLOCK, TILE = 128, 1024


def _case(n: int, limit: float = 6.5, seed: int = 0) -> Case:
    x = numbers(n, seed=seed or n)
    v = x.astype(np.float64)
    for _ in range(32):
        v = 0.9 * v + 0.25
    arguments = (x, Out(np.where(x > limit, v, x).astype(np.float32)), np.int32(n), np.float32(limit))
    name = f"{plural(n, 'element')}, {(x > limit).sum():,} of them above {limit:g}"
    return Case(name, arguments, (cover(n, TILE),), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [(dice.integers(2, 100), 0), (dice.integers(300, 1000), -9), (dice.integers(1100, 2100), 7.75)]
    drawn += [(dice.integers(3500, 6000), dice.choice([6.25, 6.5, 6.75]))]
    return [_case(int(n), float(limit), seed) for (n, limit), seed in zip(drawn, seeds(dice, 4), strict=True)]


def cases() -> list[Case]:
    return [_case(n, limit) for n, limit in ((1, -9), (97, 6.5), (128, 9), (1000, 0), (1024, -9), (2500, 6.5))]


def measured() -> Case:
    return _case(5000)


MEASURES = {
    "idle lanes per instruction": partial(idle_lanes, most=75),
    "instructions per 32 results": instructions_for_written,
}
