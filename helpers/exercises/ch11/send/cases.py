from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case
from helpers.checking.stream_work import OutOnDevice, Pageable, microseconds
from helpers.exercises.ch11.budgets import WORK, kernel, kernels, unpinned, values


def _case(n: int, m: int) -> Case:
    x, y, rounds = values(n), values(m, 11), np.int32(3)
    room = np.full(n + m, np.nan, np.float32)
    out = OutOnDevice(np.concatenate([x, y]) + np.float32(rounds))
    arguments = (Pageable(x), Pageable(y), room, out, kernel(WORK, "work"), rounds)
    return Case(f"{n:,} and {m:,} elements", arguments, block=(256,))


def cases() -> list[Case]:
    return [_case(*sizes) for sizes in ((1, 1), (31, 7), (500, 997))]


def measured() -> Case:
    return _case(1 << 18, 1 << 17)


MEASURES = {
    "kernels that are missing": lambda t: max(0, 1 - kernels(t)),
    "bytes sent from pageable memory": unpinned,
    "modelled µs on A100 for 1.5 MiB": microseconds,
}
