from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

TILE, THREADS = 256, 64


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    out = np.concatenate([x[at : at + TILE][::-1] for at in range(0, n, TILE)])
    return Case(plural(n, "element"), (x, Out(out), np.int32(n)), (cover(n, TILE),), (THREADS,))


def cases() -> list[Case]:
    return [_case(n) for n in (4, 256, 260, 512, 764)]


def measured() -> Case:
    return _case(2048)


MEASURES = {
    "load requests of ordinary instructions and cp.async": lambda profile: (
        profile["global_load_requests"] + profile["async_copies"]
    ),
    "bulk copies for 8 tiles": lambda profile: profile["bulk_loads"],
}
