from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, plural
from helpers.checking.stream_work import OnDevice, OutOfHost, microseconds, waits
from helpers.exercises.ch11.budgets import WORK, kernel, kernels, values, waited_until

BIG = 1 << 18


def _case(n: int) -> Case:
    x, few = values(n), np.int32(180 if n == BIG else 3)
    out = OutOfHost(2 * (x + np.float32(few)))
    arguments = (OnDevice(x), OnDevice(values(n, 7)), out, kernel(WORK, "work"), few, np.int32(10 * few))
    return Case(plural(n, "element"), arguments, block=(256,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 997)]


def measured() -> Case:
    return _case(BIG)


MEASURES = {
    "kernels that are missing of 2": lambda t: max(0, 2 - kernels(t)),
    "times that the host waits": waits,
    "modelled µs on A100 until the host goes on": waited_until,
    "modelled µs on A100 in all": microseconds,
}
