from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, seeds

BLOCK = 128


def _case(n: int, seed: int = 0) -> Case:
    records = numbers((n, 4), seed=seed or n)
    arguments = (records.ravel(), Out(records.T.ravel().copy()), np.int32(n))
    return Case(plural(n, "record"), arguments, (cover(n, BLOCK),), (BLOCK,))


def drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [*dice.integers(2, 400, 3), 8 * dice.integers(120, 200)]
    return [_case(int(n), seed) for n, seed in zip(sizes, seeds(dice, 4), strict=True)]


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 32, 97, 128, 500)]


def measured() -> Case:
    return _case(2000)
