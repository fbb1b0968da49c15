from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d

BLOCK = 64


def _case(n: int, width: int, stride: int) -> Case:
    x, w = numbers(n, seed=n), numbers(width, seed=100 + width)
    wanted = np.zeros((n - 1) * stride + width, np.float32)
    for i in range(n):
        wanted[i * stride : i * stride + width] += x[i] * w
    name = f"{plural(n, 'input')}, a kernel of {width}, stride {stride}"
    return Case(name, (x, w, Out(wanted), np.int32(stride)), (cover(len(wanted), BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*row) for row in ((1, 4, 2), (2, 3, 2), (5, 4, 2), (9, 5, 3), (40, 3, 1), (33, 2, 4))]


thread_of = thread_1d
