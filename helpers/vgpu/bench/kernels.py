"""The kernels that the benchmark runs, in Numba CUDA: on the virtual GPU and on Numba's own simulator alike.

NUMBA_ENABLE_CUDASIM=1 chooses the simulator, as Numba itself does. Shared arrays stand one to a line, since the
simulator mixes them up otherwise.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
    from numba import cuda
else:
    from helpers.vgpu import numba_cuda as cuda

TILE = 16
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


KERNELS = {"saxpy": saxpy, "tiled matmul": matmul, "block reduction": reduction, "divergent loop": divergent}


@dataclass(frozen=True)
class Case:
    """Arguments of one launch: grid, block and host arrays; `threads` in all."""

    grid: tuple
    block: tuple
    args: tuple

    @property
    def threads(self) -> int:
        return int(np.prod(self.grid) * np.prod(self.block))


def case(name: str, n: int) -> Case:
    """A launch of about n threads (saxpy, reduction, divergent) or of an n×n matrix product."""
    rng = np.random.default_rng(7)
    if name == "tiled matmul":
        a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
        return Case((n // TILE, n // TILE), (TILE, TILE), (a, b, np.zeros((n, n), np.float32)))
    blocks = -(-n // BLOCK)
    if name == "saxpy":
        return Case((blocks,), (BLOCK,), (np.float32(2), rng.random(n, dtype=np.float32), np.ones(n, np.float32)))
    if name == "block reduction":
        return Case((blocks,), (BLOCK,), (rng.random(n, dtype=np.float32), np.zeros(blocks, np.float32)))
    return Case((blocks,), (BLOCK,), (rng.integers(1, 1000, n).astype(np.int32), np.zeros(n, np.int32)))


SIZES = {"saxpy": 1 << 20, "tiled matmul": 512, "block reduction": 1 << 20, "divergent loop": 1 << 18}
# The simulator runs one Python thread a GPU thread: a block or a few is all it can do in a second.
SIMULATOR_SIZES = {
    "saxpy": 4 * BLOCK,
    "tiled matmul": 2 * TILE,
    "block reduction": BLOCK,
    "divergent loop": 2 * BLOCK,
}
