from __future__ import annotations

import functools
from typing import Any

import numpy as np

from helpers.checking.exercise import Case, numbers, plural
from helpers.checking.stream_work import OutOfHost, of
from vgpu.tools.streams.recording import Timeline

RATE = np.float32(0.25)
STEPS, COUNTED = 6, 4096
UPDATE = r"""
extern "C" __global__ void update(float* weight, const float* gradient, float rate, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        weight[i] = weight[i] - rate * gradient[i];
}
"""


@functools.cache
def _update() -> Any:
    from vgpu.standins import cupy as cp

    return cp.RawKernel(UPDATE, "update")


def _case(n: int, steps: int) -> Case:
    weight, gradients = numbers(n, seed=n), numbers((steps, n), seed=n + 1)
    out = OutOfHost(weight - RATE * gradients.sum(axis=0))
    name = f"{plural(n, 'weight')}, {plural(steps, 'step')}"
    return Case(name, (weight, gradients, out, _update(), RATE), block=(256,))


def cases() -> list[Case]:
    return [_case(*sizes) for sizes in ((1, 1), (31, 2), (256, 5), (997, 3))]


def measured() -> Case:
    return _case(COUNTED, STEPS)


def _copied(timeline: Timeline, kind: str) -> int:
    return sum(operation.nbytes for operation in of(timeline, kind))


MEASURES = {
    "launches that are missing": lambda timeline: max(0, STEPS - len(of(timeline, "kernel"))),
    "times that the weights are copied to the GPU": lambda t: _copied(t, "H2D") / (4 * COUNTED) - STEPS,
    "times that the weights are copied back": lambda t: _copied(t, "D2H") / (4 * COUNTED),
}
