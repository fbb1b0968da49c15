from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural

BLOCK, COUNTED = 128, (8, 1024)
EPS = np.float32(0.5)  # large, so that its place shows


def _case(rows: int, columns: int) -> Case:
    x, weight = numbers((rows, columns), seed=rows + columns), numbers(columns, seed=columns)
    exact = x.astype(np.float64)
    wanted = exact / np.sqrt((exact**2).mean(axis=1, keepdims=True) + EPS) * weight
    arguments = (x, weight, Out(wanted.astype(np.float32)), np.int32(columns), EPS)
    return Case(f"{plural(rows, 'row')} of {plural(columns, 'column')}", arguments, (rows,), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (1, 5), (3, 128), (2, 129), (4, 1000))]


def measured() -> Case:
    return _case(*COUNTED)


MEASURES = {
    "sectors loaded for each row of 1,024": lambda profile: profile["global_read_sectors"] / COUNTED[0],
}
