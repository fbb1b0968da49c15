from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, plural
from helpers.checking.stream_work import OutOnDevice, graphs, microseconds
from helpers.exercises.ch11.budgets import kernel, kernels, values

STEPS = 10
HALVE = r"""
extern "C" __global__ void halve(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] / 2 + 1;
}
"""


def _case(n: int, times: int) -> Case:
    x = values(n)
    wanted = x
    for _ in range(STEPS * times):
        wanted = wanted / 2 + 1
    out = OutOnDevice(wanted.astype(np.float32), initial=x)
    arguments = (out, kernel(HALVE, "halve"), times)
    return Case(f"{plural(n, 'element')}, {plural(times, 'time')}", arguments, block=(128,))


def cases() -> list[Case]:
    return [_case(n, times) for n, times in ((1, 1), (97, 2), (1000, 3))]


def measured() -> Case:
    return _case(256, 20)


MEASURES = {
    "launches of halve that are missing of 200": lambda t: max(0, 20 * STEPS - kernels(t)),
    "graphs made for 20 times": graphs,
    "modelled µs on A100 for 20 times": microseconds,
}
