from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = (16, 4, 2)


def _pooled(x: np.ndarray) -> np.ndarray:
    height, width = x.shape[1:]
    rows, columns = (height - 3) // 2 + 1, (width - 3) // 2 + 1
    windows = [x[:, r : r + 2 * rows - 1 : 2, s : s + 2 * columns - 1 : 2] for r in range(3) for s in range(3)]
    return np.max(windows, axis=0)


def _case(planes: int, height: int, width: int) -> Case:
    x = numbers((planes, height, width), seed=height) - np.float32(6)
    longest = max(height, width)
    grid = (cover(longest, BLOCK[0]), cover(longest, BLOCK[1]), cover(planes, BLOCK[2]))
    return Case(f"{plural(planes, 'plane')} of {height} × {width}", (x, Out(_pooled(x))), grid, BLOCK)


SHAPES = ((1, 3, 3), (2, 5, 5), (1, 7, 33), (3, 33, 7), (2, 16, 19))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]
