"""A handful of kernels in both languages, with data, right results, and the counts that paper and pencil give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Row:
    """One kernel: CUDA C, Python (as a function of the module `cuda`), a launch, and what has to come of it.

    `arguments()` are NumPy arrays and scalars; Python kernels take those that `python_takes` lists. The array
    at `out` must hold `expected(arguments)` afterwards.
    """

    name: str
    c: str
    python: Callable
    arguments: Callable[[], tuple]
    python_takes: tuple[int, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    out: int
    expected: Callable[[tuple], np.ndarray]
    counts: dict[str, int] = field(default_factory=dict)


SAXPY = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
COPY = """
extern "C" __global__ void copy(const float* source, float* target, int stride, int offset) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    target[i] = source[i * stride + offset];
}
"""
TRANSPOSE = """
extern "C" __global__ void transpose(const float* source, float* target, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = source[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    target[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
"""
WARP_SUMS = """
extern "C" __global__ void warp_sums(const int* x, int* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = x[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0)
        sums[i / 32] = sum;
}
"""
HISTOGRAM = """
extern "C" __global__ void histogram(const int* x, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[x[i]], 1);
}
"""


def saxpy(cuda):
    @cuda.jit
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    return saxpy


def copy(cuda):
    @cuda.jit
    def copy(source, target, stride, offset):
        i = cuda.grid(1)
        target[i] = source[i * stride + offset]

    return copy


def transpose(cuda):
    float32 = np.float32

    @cuda.jit
    def transpose(source, target):
        tile = cuda.shared.array((32, 33), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        bx, by = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
        tile[ty, tx] = source[by + ty, bx + tx]
        cuda.syncthreads()
        target[bx + ty, by + tx] = tile[tx, ty]

    return transpose


def warp_sums(cuda):
    @cuda.jit
    def warp_sums(x, sums):
        i = cuda.grid(1)
        sum = x[i]
        step = 16
        while step > 0:
            sum += cuda.shfl_down_sync(0xFFFFFFFF, sum, step)
            step //= 2
        if cuda.threadIdx.x % 32 == 0:
            sums[i // 32] = sum

    return warp_sums


def histogram(cuda):
    @cuda.jit
    def histogram(x, bins):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(bins, x[i], 1)

    return histogram


def floats(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.float32) / 4


def whole(count: int, below: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, below, count, dtype=np.int32)


ROWS = (
    Row(
        "saxpy", SAXPY, saxpy,
        lambda: (np.float32(2), floats(1000), np.ones(1000, np.float32), np.int32(1000)), (0, 1, 2),
        (4,), (256,), 2, lambda a: a[0] * a[1] + 1,
        # 31 whole warps of 4 sectors and one of 8 lanes.
        {"global_load_requests": 64, "global_load_sectors": 250,
         "global_store_requests": 32, "global_store_sectors": 125},
    ),
    Row(
        "copy", COPY, copy,
        lambda: (floats(4096), np.zeros(1024, np.float32), np.int32(3), np.int32(5)), (0, 1, 2, 3),
        (8,), (128,), 1, lambda a: a[0][5 : 5 + 3 * 1024 : 3],
        # A warp reads from byte 20 to byte 396 of its own 384: 13 sectors.
        {"global_load_requests": 32, "global_load_sectors": 32 * 13,
         "global_store_requests": 32, "global_store_sectors": 128},
    ),
    Row(
        "transpose", TRANSPOSE, transpose,
        lambda: (floats(64 * 64).reshape(64, 64), np.zeros((64, 64), np.float32), np.int32(64)), (0, 1),
        (2, 2), (32, 32), 1, lambda a: a[0].T,
        {"global_load_sectors": 512, "global_store_sectors": 512, "shared_load_requests": 128,
         "shared_load_wavefronts": 128, "shared_store_wavefronts": 128},
    ),
    Row(
        "warp_sums", WARP_SUMS, warp_sums,
        lambda: (whole(1024, 1000), np.zeros(32, np.int32)), (0, 1),
        (4,), (256,), 1, lambda a: a[0].reshape(32, 32).sum(1, dtype=np.int32),
        {"global_load_requests": 32, "global_load_sectors": 128,
         "global_store_requests": 32, "global_store_sectors": 32},
    ),
    Row(
        "histogram", HISTOGRAM, histogram,
        lambda: (whole(4096, 16), np.zeros(16, np.int32), np.int32(4096)), (0, 1),
        (16,), (256,), 1, lambda a: np.bincount(a[0], minlength=16).astype(np.int32),
        {"global_load_requests": 128, "global_load_sectors": 512, "global_atomic_requests": 128,
         "global_store_requests": 0},
    ),
)  # fmt: skip
LANGUAGES = ("c", "python")
CASES = [(row, language) for row in ROWS for language in LANGUAGES]
NAMES = [f"{row.name}-{language}" for row, language in CASES]


def made(row: Row, language: str, cp, cuda):
    """The kernel of a row, by the modules given."""
    return cp.RawKernel(row.c, row.name) if language == "c" else row.python(cuda)


def given(row: Row, language: str, to_device) -> tuple[tuple, object]:
    """The arguments with every array brought to a device by `to_device`, and the output among them."""
    values = [to_device(v) if isinstance(v, np.ndarray) else v for v in row.arguments()]
    takes = range(len(values)) if language == "c" else row.python_takes
    return tuple(values[i] for i in takes), values[row.out]
