from __future__ import annotations

import functools
from typing import Any

from helpers.checking.exercise import Case, numbers, plural
from helpers.checking.stream_work import OnDevice, OutOfHost, of, waits

COUNTED = 24
LOSS = r"""
extern "C" __global__ void loss_of(const float* batch, int n, float* loss) {  // one warp: the sum of squares
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        sum += batch[i] * batch[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x == 0)
        *loss = sum;
}
"""


@functools.cache
def _loss_of() -> Any:
    from vgpu.standins import cupy as cp

    return cp.RawKernel(LOSS, "loss_of")


def _case(count: int, n: int) -> Case:
    batches = numbers((count, n), seed=count + n)
    out = OutOfHost((batches * batches).sum(axis=1))
    name = f"{plural(count, 'batch', 'batches')} of {plural(n, 'element')}"
    return Case(name, (OnDevice(batches), _loss_of(), out), block=(32,))


def cases() -> list[Case]:
    return [_case(*sizes) for sizes in ((1, 1), (2, 64), (5, 33), (3, 100))]


def measured() -> Case:
    return _case(COUNTED, 96)


MEASURES = {
    "launches that are missing": lambda timeline: max(0, COUNTED - len(of(timeline, "kernel"))),
    "times that the host waits": waits,
}
