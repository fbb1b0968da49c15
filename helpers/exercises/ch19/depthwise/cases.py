from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 64


def _convolved(image: np.ndarray, weight: np.ndarray) -> np.ndarray:
    height, width = image.shape[1:]
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)))
    taps = [(r, s) for r in range(3) for s in range(3)]
    return sum(weight[:, r, s, None, None] * padded[:, r : r + height, s : s + width] for r, s in taps)


def _case(channels: int, height: int, width: int) -> Case:
    image, weight = numbers((channels, height, width), seed=width), numbers((channels, 3, 3), seed=channels)
    sizes = (np.int32(channels), np.int32(height), np.int32(width))
    threads = channels * height * width
    return Case(
        f"{plural(channels, 'channel')} of {height} × {width}",
        (image, weight, Out(_convolved(image, weight)), *sizes), (cover(threads, BLOCK),), (BLOCK,),
    )  # fmt: skip


SHAPES = ((1, 1, 1), (1, 4, 5), (3, 6, 6), (4, 3, 17), (2, 13, 2), (5, 8, 8))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]
