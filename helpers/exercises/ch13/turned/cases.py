from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers
from helpers.checking.measures import sectors_per_request

SIDE = 32
SHAPES = ((32, 32), (64, 96), (96, 32), (32, 128))


def _case(rows: int, columns: int) -> Case:
    x = numbers((rows, columns), seed=rows + columns)
    arguments = (x, Out(np.ascontiguousarray(x.T)), np.int32(rows), np.int32(columns))
    return Case(f"{rows} × {columns}", arguments, (columns // SIDE, rows // SIDE), (SIDE, 8))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(64, 96)


MEASURES = {
    "bytes of shared memory a block": lambda profile: profile.resources.shared_bytes,
    "sectors per store request": sectors_per_request("write"),
    "sectors per load request": sectors_per_request("read"),
}
