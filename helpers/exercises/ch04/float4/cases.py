from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 128


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    return Case(plural(n, "element"), (x, Out(x.copy()), np.int32(n)), (cover(cover(n, 4), BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 2, 3, 4, 5, 127, 128, 512, 1021)]


def measured() -> Case:
    return _case(4096)


MEASURES = {
    "load requests for 4,096 floats": lambda profile: profile["global_read_requests"],
}
