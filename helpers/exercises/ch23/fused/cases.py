from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers
from helpers.checking.measures import sectors_per_request

BLOCK = 128
COUNTED = (8, 6, 256)
SHAPES = ((1, 1, 1), (2, 3, 5), (1, 2, 128), (3, 5, 67), (40, 1, 3), (2, 4, 200))


def _case(images: int, channels: int, pixels: int) -> Case:
    out = np.maximum(numbers((images, channels, pixels), seed=pixels), 0)
    grad_output = numbers((images, channels, pixels), seed=channels + 17)
    grad_input = np.where(out > 0, grad_output, np.float32(0)).astype(np.float32)
    bias = grad_input.sum(axis=(0, 2), dtype=np.float64).astype(np.float32)
    sizes = (np.int32(images), np.int32(channels), np.int32(pixels))
    wanted = np.concatenate([grad_input.ravel(), bias])
    return Case(f"{images} × {channels} × {pixels}", (out, grad_output, Out(wanted), *sizes), (channels,), (BLOCK,))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(*COUNTED)


MEASURES = {
    "sectors per load request": sectors_per_request("read"),
}
