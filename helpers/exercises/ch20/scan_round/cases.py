from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096


def _case(n: int, distance: int) -> Case:
    steps = numbers((2, n), seed=n)
    steps[0] /= 8
    out = steps.copy()
    out[1, distance:] = steps[0, distance:] * steps[1, : n - distance] + steps[1, distance:]
    out[0, distance:] = steps[0, distance:] * steps[0, : n - distance]
    arguments = (steps, np.int32(distance), Out(out))
    return Case(f"{plural(n, 'step')}, distance {distance}", arguments, (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1), (31, 1), (64, 32), (131, 4), (300, 256), (1000, 16))]


def measured() -> Case:
    return _case(COUNTED, 64)


MEASURES = {
    "FP64 operations": lambda profile: profile["flops_fp64"],
}
