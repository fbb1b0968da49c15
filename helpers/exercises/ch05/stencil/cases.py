from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

REACH, BLOCK = 4, 128


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    padded = np.pad(x, REACH)
    wanted = sum((padded[k : k + n] for k in range(2 * REACH + 1)), np.zeros(n, np.float32))
    return Case(plural(n, "element"), (x, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 3, 5, 127, 128, 129, 500, 1021)]


def measured() -> Case:
    return _case(4096)


MEASURES = {
    "sectors loaded for 4,096 floats": lambda profile: profile["global_read_sectors"],
}
