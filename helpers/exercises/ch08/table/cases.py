from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import total

BLOCK = 128
SCALE = (2.0, 3.0, 0.5, 1.5, 4.0, 0.25, 5.0, 6.0)
SHIFT = (1.0, -2.0, 4.0, -1.0, 3.0, 0.0, -3.0, 2.0)


def _case(n: int) -> Case:
    kind = np.random.default_rng(n).integers(0, 8, n).astype(np.int32)
    x = numbers(n, seed=n)
    wanted = np.array(SCALE, np.float32)[kind] * x + np.array(SHIFT, np.float32)[kind]
    return Case(plural(n, "element"), (kind, x, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 2, 31, 64, 97, 128, 1021)]


def measured() -> Case:
    return _case(4096)


thread_of = thread_1d


MEASURES = {
    "loads from local memory": total("local_load_requests"),
    "warp instructions for 4,096 elements": total("instructions"),
}
