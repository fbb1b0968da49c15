from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 64


def _case(rows: int, columns: int, ranks: int) -> Case:
    weight, bias = numbers((rows, columns), seed=rows + columns), numbers(rows, seed=ranks)
    length = cover(rows, ranks)
    padded = np.zeros((ranks * length, columns + 1), np.float32)
    padded[:rows, :columns], padded[:rows, columns] = weight, bias
    parts = padded.reshape(ranks, length, columns + 1)
    wanted = np.concatenate([parts[:, :, :columns].reshape(ranks, -1), parts[:, :, columns]], axis=1)
    name = f"{plural(rows, 'row')} of {columns} on {plural(ranks, 'rank')}"
    return Case(name, (weight, bias, Out(wanted)), (cover(wanted.size, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*each) for each in ((1, 1, 1), (8, 4, 4), (10, 3, 4), (5, 7, 4), (3, 2, 8), (31, 64, 2), (97, 5, 3))]
