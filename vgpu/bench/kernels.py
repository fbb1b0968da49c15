"""The kernels of the benchmark, in Numba CUDA: for the virtual GPU and for Numba's own simulator.

NUMBA_ENABLE_CUDASIM=1 chooses the simulator, as in Numba itself. Each shared array has its own line, since the
simulator mixes them up otherwise.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
    from numba import cuda
else:
    from vgpu.standins import numba_cuda as cuda

TILE = 16
HALO = TILE + 2
BLOCK = 256


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for tile in range(a.shape[1] // TILE):
        tile_a[ty, tx] = a[row, tile * TILE + tx]
        tile_b[ty, tx] = b[tile * TILE + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def reduction(x, sums):
    partial = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if t < stride:
            partial[t] += partial[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = partial[0]


@cuda.jit
def divergent(x, steps):
    i = cuda.grid(1)
    if i < x.size:
        n = x[i]
        count = 0
        while n > 1:
            if n % 2 == 0:  # noqa: SIM108 (a branch that diverges is the point)
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        steps[i] = count


@cuda.jit
def float_atomics(x, sums):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(sums, i % sums.size, x[i])


@cuda.jit
def histogram(x, bins):
    mine = cuda.shared.array(BLOCK, np.int32)
    t = cuda.threadIdx.x
    mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, t, mine[t])


@cuda.jit
def stencil(u, v):
    tile = cuda.shared.array((HALO, HALO), np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    inside = x < u.shape[1] and y < u.shape[0]
    if inside:
        tile[ty, tx] = u[y, x]
        if tx == 1 and x > 0:
            tile[ty, 0] = u[y, x - 1]
        if tx == TILE and x + 1 < u.shape[1]:
            tile[ty, TILE + 1] = u[y, x + 1]
        if ty == 1 and y > 0:
            tile[0, tx] = u[y - 1, x]
        if ty == TILE and y + 1 < u.shape[0]:
            tile[TILE + 1, tx] = u[y + 1, x]
    cuda.syncthreads()
    if 0 < x < u.shape[1] - 1 and 0 < y < u.shape[0] - 1:
        around = tile[ty, tx - 1] + tile[ty, tx + 1] + tile[ty - 1, tx] + tile[ty + 1, tx]
        v[y, x] = tile[ty, tx] + np.float32(0.2) * (around - np.float32(4) * tile[ty, tx])


@cuda.jit
def scan(x, out):
    front = cuda.shared.array(BLOCK, np.float32)
    back = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    front[t] = x[i]
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        back[t] = front[t] + front[t - step] if t >= step else front[t]
        cuda.syncthreads()
        front[t] = back[t]
        cuda.syncthreads()
        step *= 2
    out[i] = front[t]


@cuda.jit
def softmax(x, out):
    partial = cuda.shared.array(BLOCK, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    highest = np.float32(-np.inf)
    for column in range(t, x.shape[1], BLOCK):
        highest = max(highest, x[row, column])
    partial[t] = highest
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if t < stride:
            partial[t] = max(partial[t], partial[t + stride])
        cuda.syncthreads()
        stride //= 2
    highest = partial[0]
    cuda.syncthreads()
    total = np.float32(0)
    for column in range(t, x.shape[1], BLOCK):
        total += math.exp(x[row, column] - highest)
    partial[t] = total
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if t < stride:
            partial[t] += partial[t + stride]
        cuda.syncthreads()
        stride //= 2
    for column in range(t, x.shape[1], BLOCK):
        out[row, column] = math.exp(x[row, column] - highest) / partial[0]


@dataclass(frozen=True)
class Case:
    """Arguments of one launch: grid, block and host arrays; `threads` in all."""

    grid: tuple
    block: tuple
    args: tuple

    @property
    def threads(self) -> int:
        return int(np.prod(self.grid) * np.prod(self.block))


@dataclass(frozen=True)
class Workload:
    """A kernel to measure: `arguments(n)` makes its case, `size` is the n of the benchmark.

    `simulated` is the n that Numba's simulator runs in about a second, with one Python thread per GPU thread.
    """

    kernel: Any  # of the stand-in or of Numba, which has no types
    arguments: Callable[[int], Case]
    size: int
    simulated: int


def _numbers(*shape) -> np.ndarray:
    return np.random.default_rng(7).random(shape, dtype=np.float32)


def _integers(n: int, low: int, high: int) -> np.ndarray:
    return np.random.default_rng(7).integers(low, high, n).astype(np.int32)


def _line(n: int, *args, block: int = BLOCK) -> Case:
    return Case((-(-n // block),), (block,), args)


def _plane(n: int, *args) -> Case:
    return Case((-(-n // TILE), -(-n // TILE)), (TILE, TILE), args)


def _zeros(*shape, dtype=np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


# n is the number of elements, for those in a plane the length of a side.
WORKLOADS = {
    "saxpy": Workload(
        saxpy, lambda n: _line(n, np.float32(2), _numbers(n), np.ones(n, np.float32)), 1 << 20, 4 * BLOCK
    ),
    "tiled matmul": Workload(
        matmul, lambda n: _plane(n, _numbers(n, n), _numbers(n, n), _zeros(n, n)), 512, 2 * TILE
    ),
    "block reduction": Workload(reduction, lambda n: _line(n, _numbers(n), _zeros(-(-n // BLOCK))), 1 << 20, BLOCK),
    "divergent loop": Workload(
        divergent, lambda n: _line(n, _integers(n, 1, 1000), _zeros(n, dtype=np.int32)), 1 << 18, 2 * BLOCK
    ),
    "float atomics": Workload(float_atomics, lambda n: _line(n, _numbers(n), _zeros(64)), 1 << 18, BLOCK),
    "histogram": Workload(
        histogram, lambda n: _line(n // 16, _integers(n, 0, BLOCK), _zeros(BLOCK, dtype=np.int32)), 1 << 20, 16 * BLOCK
    ),
    "stencil": Workload(stencil, lambda n: _plane(n, _numbers(n, n), _zeros(n, n)), 1024, 2 * TILE),
    "scan": Workload(scan, lambda n: _line(n, _numbers(n), _zeros(n)), 1 << 18, BLOCK),
    "softmax": Workload(
        softmax, lambda n: Case((n,), (BLOCK,), (_numbers(n, 1024), _zeros(n, 1024))), 512, 1
    ),
}  # fmt: skip
