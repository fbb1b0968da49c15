from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, plural
from helpers.checking.stream_work import OutOnDevice, microseconds
from helpers.exercises.ch11.budgets import BIG, WORK, kernel, kernels, values


def _case(n: int) -> Case:
    x, rounds = values(n), np.int32(180 if n == BIG else 3)
    out = OutOnDevice(x + np.float32(rounds), initial=x)
    return Case(plural(n, "element"), (out, kernel(WORK, "work"), rounds), block=(256,))


def cases() -> list[Case]:
    return [_case(n) for n in (4, 124, 4000)]


def measured() -> Case:
    return _case(BIG)


MEASURES = {
    "kernels that are missing": lambda t: max(0, 1 - kernels(t)),
    "modelled µs on A100 for 2²⁰ elements": microseconds,
}
