from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers

TILE = 32
SHAPES = ((1, 1, 1), (32, 32, 32), (33, 40, 17), (13, 70, 37), (70, 9, 64), (64, 96, 33))


def _case(m: int, n: int, depth: int) -> Case:
    a, b = numbers((m, depth), seed=m), numbers((depth, n), seed=n + 50)
    sizes = (np.int32(m), np.int32(n), np.int32(depth))
    name = f"({m} × {depth}) by ({depth} × {n})"
    return Case(name, (a, b, Out(a @ b), *sizes), (cover(n, TILE), cover(m, TILE)), (32, 8))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(64, 64, 64)


MEASURES = {
    "shared loads for 64 × 64 × 64 multiply-adds": lambda profile: profile["shared_load_requests"],
    "sectors loaded from global memory": lambda profile: profile["global_read_sectors"],
    "store requests for 64 × 64 results": lambda profile: profile["global_write_requests"],
}
