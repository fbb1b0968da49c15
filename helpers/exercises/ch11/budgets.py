"""What the exercises on streams share: data, kernels in CUDA C, and what their recordings may come to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.checking.exercise import Budget
from helpers.checking.stream_work import GPU, of, waits
from vgpu.tools.streams.recording import Timeline
from vgpu.tools.streams.spans import WAITS

BIG = 1 << 20
WORK = r"""
extern "C" __global__ void work(float* x, int n, int rounds) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += stride) {
        float v = x[i];
        for (int r = 0; r < rounds; ++r)
            v += 1.0f;
        x[i] = v;
    }
}
"""


@functools.cache
def kernel(source: str, name: str) -> Any:
    """A kernel in CUDA C, once for all cases."""
    from vgpu.standins import cupy as cp

    return cp.RawKernel(source, name)


def values(n: int, shift: int = 0) -> np.ndarray:
    """Whole numbers from -40 to 56, each once before they repeat."""
    return ((np.arange(n) + shift) % 97 - 40).astype(np.float32)


def kernels(timeline: Timeline) -> int:
    """How many kernels run, those of graphs each time."""
    in_graphs = sum(node.kind == "kernel" for each in of(timeline, "graph") for node, _ in each.nodes)
    return len(of(timeline, "kernel")) + in_graphs


def unpinned(timeline: Timeline) -> int:
    """Bytes that are copied to the device from pageable memory."""
    return sum(operation.nbytes for operation in of(timeline, "H2D") if not operation.pinned)


def waited_until(timeline: Timeline) -> float:
    """Modelled microseconds until the host's last wait is over."""
    return 1e6 * max((span.end for span in timeline.schedule(GPU).host if span.label == WAITS), default=0.0)


def not_brought(nbytes: int) -> Callable[[Timeline], int]:
    """The bytes of a result of so many that no copy brings from the device, or all if no kernel runs."""

    def missing(timeline: Timeline) -> int:
        found = sum(operation.nbytes for operation in of(timeline, "D2H")) if kernels(timeline) else 0
        return max(0, nbytes - found)

    return missing


NO_WAITS = Budget(
    "times that the host waits",
    waits,
    0,
    "Only issue work: no synchronize(), no copy that blocks, no pageable memory. The caller does the waiting.",
)
