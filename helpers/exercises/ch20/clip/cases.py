from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096


def _case(n: int, limit: float) -> Case:
    gradient = numbers(n, seed=n)
    squares = np.array([np.square(gradient, dtype=np.float64).sum()], np.float32)
    norm = np.sqrt(squares[0])
    wanted = (gradient * min(1.0, limit / norm)).astype(np.float32)
    arguments = (gradient, squares, np.float32(limit), Out(wanted))
    return Case(f"{plural(n, 'element')}, limit {limit:g}", arguments, (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 0.25), (1, 50.0), (31, 2.0), (128, 1.0), (131, 500.0), (1000, 5.0))]


def measured() -> Case:
    return _case(COUNTED, 1.0)


MEASURES = {
    "FP64 operations": lambda profile: profile["flops_fp64"],
    "bytes stored for each element": lambda profile: profile["global_write_bytes"] / COUNTED,
}
