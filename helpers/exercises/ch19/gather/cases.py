from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 32


def _case(n: int, taps: int, stride: int) -> Case:
    outputs = (n - taps) // stride + 1
    grad_output, weight = numbers(outputs, seed=n), numbers(taps, seed=taps)
    wanted = np.zeros(n, np.float32)
    for q in range(outputs):
        wanted[q * stride : q * stride + taps] += grad_output[q] * weight
    sizes = tuple(map(np.int32, (n, outputs, taps, stride)))
    return Case(
        f"{plural(n, 'input')}, {plural(taps, 'tap')}, stride {stride}",
        (grad_output, weight, Out(wanted), *sizes), (cover(n, BLOCK),), (BLOCK,),
    )  # fmt: skip


SHAPES = ((1, 1, 1), (7, 3, 1), (9, 3, 2), (40, 5, 2), (33, 2, 3), (100, 4, 1), (70, 7, 3))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]
