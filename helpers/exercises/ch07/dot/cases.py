from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, numbers, plural
from helpers.checking.measures import busiest_warp
from helpers.exercises.ch07.budgets import BLOCK, BLOCKS


def _case(n: int) -> Case:
    x, y = numbers(n, seed=n), numbers(n, seed=n + 1)
    wanted = np.array([np.dot(x.astype(np.float64), y)], np.float32)
    return Case(plural(n, "element"), (x, y, Out(wanted, initial=np.zeros(1, np.float32))), (BLOCKS,), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 97, 512, 1021, 4096)]


def measured() -> Case:
    return _case(8192)


MEASURES = {
    "global atomic requests for 4 blocks": lambda profile: profile["global_update_requests"],
    "load requests for 8,192 pairs": lambda profile: profile["global_read_requests"],
    "sectors loaded for 8,192 pairs": lambda profile: profile["global_read_sectors"],
    "busiest warp by average": busiest_warp,
}
