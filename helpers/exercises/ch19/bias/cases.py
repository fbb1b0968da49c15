from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers
from helpers.checking.measures import sectors_per_request

WARP = 32
COUNTED = (4, 6, 320)


def _case(images: int, filters: int, pixels: int) -> Case:
    grad_output = numbers((images, filters, pixels), seed=pixels)
    wanted = grad_output.sum(axis=(0, 2), dtype=np.float64).astype(np.float32)
    return Case(f"{images} × {filters} × {pixels}", (grad_output, Out(wanted)), (filters,), (WARP,))


SHAPES = ((1, 1, 1), (2, 3, 5), (1, 2, 32), (3, 5, 67), (40, 1, 3), (5, 7, 64))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(*COUNTED)


MEASURES = {
    "sectors per load request": sectors_per_request("read"),
}
