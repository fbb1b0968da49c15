from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural
from helpers.exercises.ch07.budgets import of_the_busiest_warp


def _case(n: int) -> Case:
    x = 2 * np.random.default_rng(n).integers(-9, 10, n, np.int32)  # even: no sum looks like the bytes 0xFF
    wanted = np.concatenate([[0], np.cumsum(x)[:-1]]).astype(np.int32)
    return Case(plural(n, "element"), (x, Out(wanted)), (1,), (n,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 2, 31, 33, 97, 256, 1021)]


def measured() -> Case:
    return _case(1024)


MEASURES = {
    "load requests for 1,024 elements": lambda profile: profile["global_read_requests"],
    "instructions for 1,024 elements": lambda profile: profile["instructions"],
    "instructions of the busiest warp": of_the_busiest_warp,
}
