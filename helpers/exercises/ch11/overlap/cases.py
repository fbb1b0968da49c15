from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, plural
from helpers.checking.stream_work import OnDevice, Out, microseconds
from helpers.exercises.ch11.budgets import BIG, WORK, kernel, not_brought, values

ROUNDS = 180


def _case(n: int) -> Case:
    x, rounds = values(n), np.int32(ROUNDS if n == BIG else 3)
    arguments = (x, OnDevice(n), Out(x + np.float32(rounds)), kernel(WORK, "work"), rounds)
    return Case(plural(n, "element"), arguments, block=(256,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 997, 4096)]


def measured() -> Case:
    return _case(BIG)


MEASURES = {
    "bytes of the result that do not come from the GPU": not_brought(4 * BIG),
    "modelled µs on A100 for 4 MiB": microseconds,
}
