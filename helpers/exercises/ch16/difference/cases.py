from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 128


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    before = np.concatenate([[0], x[:-1]]).astype(np.float32)
    before[::BLOCK] = 0
    return Case(plural(n, "element"), (x, Out(x - before), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 97, 128, 131, 1000)]
