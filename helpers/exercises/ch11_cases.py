"""Cases and budgets of the exercises on streams, and how mistakes show in them."""

from __future__ import annotations

import functools

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Case, Mistake, plural
from helpers.checking.stream_work import GPU, OnDevice, Out, OutOnDevice, graphs, microseconds, of, waits

ROUNDS = 180
BIG = 1 << 20
STEPS = 10

_WORK = r"""
extern "C" __global__ void work(float* x, int n, int rounds) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        for (int r = 0; r < rounds; ++r) v += 1;
        x[i] = v;
    }
}
"""
_HALVE = r"""
extern "C" __global__ void halve(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] / 2 + 1;
}
"""


@functools.cache
def _kernel(source: str, name: str):
    from helpers.vgpu.standins import cupy as cp

    return cp.RawKernel(source, name)


@functools.cache
def _numba_kernels():
    from helpers.vgpu.standins import numba_cuda as cuda

    @cuda.jit
    def work(x, rounds):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            for _ in range(rounds):
                x[i] += 1

    @cuda.jit
    def add(x, y):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            x[i] += y[i]

    return work, add


def _values(n: int, shift: int = 0) -> np.ndarray:
    return ((np.arange(n) + shift) % 97 - 40).astype(np.float32)


def overlap_case(n: int) -> Case:
    x, rounds = _values(n), np.int32(ROUNDS if n == BIG else 3)
    arguments = (x, OnDevice(n), Out(x + np.float32(rounds)), _kernel(_WORK, "work"), rounds)
    return Case(plural(n, "element"), arguments, block=(256,))


def join_case(n: int) -> Case:
    x, y, rounds = _values(n), _values(n, 5), 30 if n == BIG // 4 else 2
    arguments = (x, y, Out(x + y + np.float32(2 * rounds)), *_numba_kernels(), rounds)
    return Case(plural(n, "element"), arguments, block=(256,))


def replay_case(n: int, times: int) -> Case:
    x = _values(n)
    wanted = x
    for _ in range(STEPS * times):
        wanted = wanted / 2 + 1
    out = OutOnDevice(wanted.astype(np.float32), initial=x)
    arguments = (out, _kernel(_HALVE, "halve"), times)
    return Case(f"{plural(n, 'element')}, {plural(times, 'time')}", arguments, block=(128,))


def any_pageable(timeline) -> bool:
    return any(operation.pinned is False for operation in timeline.operations)


def queues(timeline) -> int:
    return len({operation.queue for operation in timeline.operations if operation.kind == "kernel"})


def records_late(timeline) -> bool:
    """Whether an event is recorded, and a stream waits for one."""
    return bool(of(timeline, "record")) and bool(of(timeline, "wait"))


def waits_for_nothing(timeline) -> bool:
    return any("never recorded" in line for line in timeline.findings())


def replayed(often):
    """What comes out where the ten launches run `often(times)` times."""

    def wrong(case: Case) -> np.ndarray:
        x, _, times = case.arguments
        wanted = x.initial
        for _ in range(STEPS * often(times)):
            wanted = wanted / 2 + 1
        return wanted

    return known.gives(wrong)


def blocks_rounded_down(case: Case) -> np.ndarray:
    x = case.out
    done = max(1, x.initial.size // 128) * 128
    return np.where(np.arange(x.initial.size) < done, x.expected, x.initial)


def short_graph(timeline) -> bool:
    return any(len(each.nodes) < STEPS for each in of(timeline, "graph"))


def _kernels(timeline) -> int:
    """How many kernels run, those of graphs each time."""
    in_graphs = sum(node.kind == "kernel" for each in of(timeline, "graph") for node, _ in each.nodes)
    return len(of(timeline, "kernel")) + in_graphs


def _not_brought(timeline, needed: int) -> int:
    """The bytes of a result that no copy brings from the device, or all if no kernel runs."""
    brought = sum(operation.nbytes for operation in of(timeline, "D2H")) if _kernels(timeline) else 0
    return max(0, needed - brought)


def few_threads(timeline) -> bool:
    return any(each.counters is not None and each.counters.warps < 32 for each in of(timeline, "kernel"))


def kernels_in_the_default_stream(timeline) -> bool:
    """Kernels, all or some, are in the default stream, and other things are not."""
    kernels = {operation.queue.kind for operation in of(timeline, "kernel")}
    return kernels != {"stream"} and any(operation.queue.kind == "stream" for operation in timeline.operations)


def not_added(case: Case) -> np.ndarray:
    x, rounds = case.arguments[0], case.arguments[-1]
    return x + np.float32(rounds)


def as_it_was(case: Case) -> np.ndarray:
    return case.out.initial


def failed_in_capture(evidence) -> bool:
    return any("Capture" in str(outcome.error) for outcome in evidence.outcomes)


MADE_ELSEWHERE = "The kernel is to make the result, on the GPU. What the host calculates takes no stream at all."
BROUGHT = Budget(
    "bytes of the result that do not come from the GPU", lambda t: _not_brought(t, 4 * BIG), 0, MADE_ELSEWHERE
)
JOINED = Budget(BROUGHT.label, lambda t: _not_brought(t, BIG), 0, MADE_ELSEWHERE)
HALVED = Budget(
    "launches of halve that are missing of 200",
    lambda t: max(0, 20 * STEPS - _kernels(t)),
    0,
    "It is about launching this kernel, ten times for each of `times`.",
)
NO_WAITS = Budget(
    "times that the host waits",
    waits,
    0,
    "Only ask for work: no synchronize(), no copy that blocks, no pageable memory. Whoever calls will wait.",
)
OVERLAP = Budget(
    f"modelled µs on {GPU} for 4 MiB",
    microseconds,
    300,
    "In one piece it takes about 475. Copies both ways and the kernel can work at one time, on different chunks.",
)
TOGETHER = Budget(
    f"modelled µs on {GPU} for 1 MiB each",
    microseconds,
    170,
    "The kernel on x and the copy of y need different engines: let them run side by side.",
)
REPLAYED = Budget(
    f"modelled µs on {GPU} for 20 times",
    microseconds,
    420,
    "200 launches cost the host 200 launch overheads. A graph of ten costs one.",
)
CAPTURED_ONCE = Budget(
    "graphs made for 20 times",
    graphs,
    1,
    "A graph can be launched as often as you like: make one.",
)

ON_THE_HOST = Mistake(
    "made on the host",
    known.over(BROUGHT.label),
    "The result is right, and the GPU has not made it, or not all of it. Copy in, launch the kernel, copy out.",
)


def tail_only(evidence) -> bool:
    """What is wrong lies at the end: the start of every result is right."""
    seen = [outcome for outcome in evidence.outcomes if not outcome.ok]
    right = any(outcome.ok for outcome in evidence.outcomes)
    return bool(seen) and right and all(o.error is None and o.wrong.ravel()[-1] for o in seen)
