from __future__ import annotations

import functools
from typing import Any

import numpy as np

from helpers.checking.exercise import Case, plural
from helpers.checking.stream_work import Out, microseconds
from helpers.exercises.ch11.budgets import BIG, not_brought, values


@functools.cache
def _kernels() -> tuple[Any, Any]:
    from vgpu.standins import numba_cuda as cuda

    @cuda.jit
    def work(x: np.ndarray, rounds: int) -> None:
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            for _ in range(rounds):
                x[i] += 1

    @cuda.jit
    def add(x: np.ndarray, y: np.ndarray) -> None:
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            x[i] += y[i]

    return work, add


def _case(n: int) -> Case:
    x, y, rounds = values(n), values(n, 5), 30 if n == BIG // 4 else 2
    arguments = (x, y, Out(x + y + np.float32(2 * rounds)), *_kernels(), rounds)
    return Case(plural(n, "element"), arguments, block=(256,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 31, 997)]


def measured() -> Case:
    return _case(BIG // 4)


MEASURES = {
    "bytes of the result that do not come from the GPU": not_brought(BIG),
    "modelled µs on A100 for 1 MiB each": microseconds,
}
