"""Two transposes and a sum, in Numba CUDA."""

import numpy as np
from numba import cuda, float32

TILE = 32
PADDED = TILE + 1  # words of a row, so that a column lies in 32 banks


@cuda.jit
def transpose_rows(x, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[column, row] = x[row, column]


@cuda.jit
def transpose_tiles(x, out):
    tile = cuda.shared.array((TILE, PADDED), float32)
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    column = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    row = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def block_sums(x, sums):
    shared = cuda.shared.array(256, float32)
    i, thread = cuda.grid(1), cuda.threadIdx.x
    shared[thread] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 128
    while step > 0:
        if thread < step:
            shared[thread] += shared[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        sums[cuda.blockIdx.x] = shared[0]


def transpose(x, kernel=transpose_tiles):
    """The transpose of a float32 matrix, as a NumPy array."""
    out = cuda.device_array(x.shape[::-1], np.float32)
    grid = -(-x.shape[1] // TILE), -(-x.shape[0] // TILE)
    kernel[grid, (TILE, TILE)](cuda.to_device(x), out)
    return out.copy_to_host()


def total(x):
    """The sum of a float32 array."""
    blocks = -(-x.size // 256)
    sums = cuda.device_array(blocks, np.float32)
    block_sums[blocks, 256](cuda.to_device(x), sums)
    return sums.copy_to_host().sum()
