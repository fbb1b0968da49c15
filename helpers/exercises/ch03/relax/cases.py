from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural

GRID, BLOCK = 2, 64
FACTOR, SHIFT = np.float32(0.5), np.float32(3)


def _case(n: int, rounds: int) -> Case:
    x = numbers(n, seed=n)
    right = x.copy()
    for _ in range(rounds):
        right = FACTOR * right + SHIFT
    name = f"{plural(n, 'element')}, {plural(rounds, 'round')}"
    return Case(name, (x, Out(right), FACTOR, SHIFT, np.int32(rounds)), (GRID,), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1), (63, 3), (128, 0), (129, 2), (257, 4), (1000, 5))]


def measured() -> Case:
    return _case(4096, 6)


MEASURES = {
    "global load requests for 4,096 floats": lambda profile: profile["global_read_requests"],
    "global store requests": lambda profile: profile["global_write_requests"],
    "local requests": lambda profile: profile["local_requests"],
}
