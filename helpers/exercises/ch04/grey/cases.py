from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import sectors_per_request

BLOCK = 128


def _case(n: int) -> Case:
    planes = numbers((3, n), seed=n)
    wanted = (planes[0] / 4 + planes[1] / 2 + planes[2] / 4).astype(np.float32)
    return Case(plural(n, "pixel"), (planes, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 32, 97, 128, 1000)]


def measured() -> Case:
    return _case(4096)


thread_of = thread_1d


MEASURES = {
    "sectors per 128 bytes of a load request": sectors_per_request("read"),
}
