from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers

TILE = 32


def _case(n: int) -> Case:
    a, b = numbers((n, n), seed=n), numbers((n, n), seed=n + 50)
    return Case(f"side {n}", (a, b, Out(a @ b), np.int32(n)), (n // TILE, n // TILE), (256,))


def cases() -> list[Case]:
    return [_case(n) for n in (32, 64, 96)]


def measured() -> Case:
    return _case(64)


MEASURES = {
    "load requests to global memory, side 64": lambda profile: profile["global_read_requests"],
    "shared loads, side 64": lambda profile: profile["shared_load_requests"],
    "store requests, side 64": lambda profile: profile["global_write_requests"],
}
