from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK, COUNTED = 64, (16, 256)


def _case(rows: int, columns: int) -> Case:
    grad, x = numbers((rows, columns), seed=rows), numbers((rows, columns), seed=columns + 50)
    r = np.abs(numbers(rows, seed=3)) / 8
    wanted = (grad.astype(np.float64) * x * r[:, None]).sum(axis=0).astype(np.float32)
    arguments = (grad, x, r, Out(wanted), np.int32(rows), np.int32(columns))
    return Case(f"{plural(rows, 'row')} of {plural(columns, 'column')}", arguments, (cover(columns, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in ((1, 1), (3, 5), (5, 3), (2, 64), (7, 65), (33, 130))]


def measured() -> Case:
    return _case(*COUNTED)


MEASURES = {
    "sectors loaded for each row of 256": lambda profile: profile["global_read_sectors"] / COUNTED[0],
}
