from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import total

BLOCK = 128


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    x[n // 2 :: 7] = 0  # nothing is neither kept nor below 0
    kept = x > 0
    place = np.full(n, -1, np.int32)
    for first in range(0, n, 32):
        mine = kept[first : first + 32]
        place[first : first + 32][mine] = np.arange(mine.sum())
    return Case(plural(n, "element"), (x, Out(place)), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 2, 31, 33, 64, 97, 128, 1021)]


def measured() -> Case:
    return _case(2048)


thread_of = thread_1d


MEASURES = {
    "warp instructions for 2,048 elements": total("instructions"),
    "load requests for 2,048 elements": total("global_load_requests"),
}
