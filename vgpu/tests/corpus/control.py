"""Threads that go different ways, wait for one another, and meet again."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

from __future__ import annotations

import numpy as np

from vgpu.tests.corpus.row import c, each_thread

i4 = np.int32


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    return steps


@c(
    """
    extern "C" __global__ void k(const int* in, int* steps, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int v = in[i], k = 0;
        if (v < 1) { steps[i] = -1; return; }
        while (v != 1) { v = v % 2 ? 3 * v + 1 : v / 2; ++k; if (k == 30) return; }
        steps[i] = k;
    }""",
    2, 64, check=True,
)  # fmt: skip
def loops_of_different_length_with_early_return(random):
    data = random.integers(-3, 60, 100, dtype=i4)
    steps = [-1 if v < 1 else collatz(int(v)) for v in data]
    return (data, np.full(100, -7, i4), i4(100)), {1: [-7 if n >= 30 else n for n in steps]}


@each_thread(
    """HEAD
        int v = in[i] % 40, sum = 0;
        for (int i = 0; i < v; ++i) {
            if (i % 3 == threadIdx.x % 3) continue;
            for (int j = 0; ; ++j) {
                if (j > i) break;
                if ((i + j) % 7 == 5) { sum += 100; break; }
                if (j == 4) goto next;
                sum += j;
            }
            if (sum > 900) break;
            next: ++sum;
        }
        out[i] = sum; }""",
    45, check=True,
)  # fmt: skip
def nested_loops_with_break_continue_and_goto(thread, v):
    total = 0
    for i in range(v % 40):
        if i % 3 == thread % 3:
            continue
        j, jumped = 0, False
        while j <= i:
            if (i + j) % 7 == 5:
                total += 100
                break
            if j == 4:
                jumped = True
                break
            total, j = total + j, j + 1
        if not jumped and total > 900:
            break
        total += 1
    return total


CASES = "\n".join(f"case {k * k}: r += {k};" + (" break;" if k % 3 else "") for k in range(12))
DENSE = "\n".join(f"case {k}: r ^= {k * 77 + 1}; break;" for k in range(20))


@each_thread(
    f"HEAD int r = 0; switch (i) {{ {CASES} default: r -= 1; }} switch (i % 25) {{ {DENSE} }} out[i] = r; }}", 128,
    check=True,
)  # fmt: skip
def switch_with_fallthrough(v, _):
    r, falling = 0, False
    for k in range(12):
        if falling or v == k * k:
            r, falling = r + k, k % 3 == 0
            if not falling:
                break
    else:
        r -= 1
    return r ^ (v % 25 * 77 + 1) if v % 25 < 20 else r


@c(
    """
    extern "C" __global__ void k(const int* in, int n, int* out) {
        int i = threadIdx.x;
        bool ok = (i < n && in[i] > 50) || (i >= n && i - n < n && in[i - n] < 10);
        out[i] = ok ? (i < n ? in[i] : -in[i - n]) : 0;
    }""",
    1, 64,
)  # fmt: skip
def short_circuits_protect_what_follows(random):
    data = random.integers(0, 100, 20, dtype=i4)
    wanted = [int(v) if v > 50 else 0 for v in data] + [-int(v) if v < 10 else 0 for v in data] + [0] * 24
    return (data, i4(20), np.zeros(64, i4)), {2: wanted}


@c(
    """
    extern "C" __global__ void k(int* lock, volatile int* total) {
        while (atomicCAS(lock, 0, 1) != 0) { }
        __threadfence();
        *total = *total + 1;
        __threadfence();
        atomicExch(lock, 0);
    }""",
    1, 8, check=True, counts=False,
)  # fmt: skip
def lanes_of_one_warp_share_a_spin_lock(random):
    return (np.zeros(1, i4), np.zeros(1, i4)), {0: [0], 1: [8]}


@c(
    """
    extern "C" __global__ void k(int* out) {
        __shared__ volatile int flag, value;
        if (threadIdx.x == 0) flag = 0;
        __syncthreads();
        if (threadIdx.x == 32) { value = 42; __threadfence_block(); flag = 1; }
        if (threadIdx.x < 32) { while (flag == 0) { } __threadfence_block(); out[threadIdx.x] = value; }
    }""",
    1, 64, check=True, counts=False,
)  # fmt: skip
def one_warp_waits_for_another(random):
    return (np.zeros(32, i4),), {0: [42] * 32}


@c(
    """
    __device__ __noinline__ int power(int base, int n) { int r = 1; for (; n > 0; --n) r *= base; return r; }
    __device__ __noinline__ int twice(int v) { return v % 2 ? power(v % 5, 3) : power(2, v % 9) + 1; }
    template <int N> __device__ int offset(int v) { return v + N; }
    template <typename T> __device__ T larger(T a, T b) { return a > b ? a : b; }
    extern "C" __global__ void k(const int* in, int* out) {
        int v = in[threadIdx.x];
        int r = v > 30 ? twice(v) : v > 10 ? twice(v + 1) - 1 : -power(v, 2);
        out[threadIdx.x] = larger(offset<7>(r), offset<-3>(v));
    }""",
    1, 96,
)  # fmt: skip
def device_functions_diverge_and_meet_again(random):
    twice = lambda v: (v % 5) ** 3 if v % 2 else 2 ** (v % 9) + 1
    data = random.integers(0, 60, 96, dtype=i4)
    results = [twice(v) if v > 30 else twice(v + 1) - 1 if v > 10 else -(v**2) for v in data.tolist()]
    return (data, data * 0), {1: [max(r + 7, v - 3) for r, v in zip(results, data.tolist(), strict=True)]}


@each_thread(
    """HEAD int v = in[i] & 3, way = 9;
        asm volatile("{ .reg .pred p; ways: .branchtargets A, B, A, C;"
                     " setp.lt.s32 p, %1, 24; @p brx.idx %2, ways; mov.b32 %0, 5; bra.uni E;"
                     " A: mov.b32 %0, 10; bra.uni E; B: mov.b32 %0, 20; C: add.s32 %0, %0, 1; E: }"
                     : "+r"(way) : "r"(i), "r"(v));
        out[i] = way; }""",
    check=True,
)  # fmt: skip
def a_branch_to_one_of_several_labels(thread, v):
    return (10, 21, 10, 10)[v & 3] if thread < 24 else 5


@each_thread('HEAD out[i] = 1; if (i % 3 == 0) asm volatile("exit;"); out[i] = 2; }')
def exit_ends_a_thread_wherever_it_stands(i, v):
    return 1 if i % 3 == 0 else 2


def _places(name: str, grid, block) -> None:
    @c(
        """
        extern "C" __global__ void k(int* out) {
            int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
            int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
            int size = blockDim.x * blockDim.y * blockDim.z;
            out[block * size + thread] = threadIdx.x | threadIdx.y << 6 | threadIdx.z << 12 | block << 20;
        }""",
        grid, block, name=f"a_grid_of_{name}", check=name == "three_dimensions",
    )  # fmt: skip
    def make(random):
        blocks, threads = int(np.prod(grid)), int(np.prod(block))
        x, y = (*np.atleast_1d(block), 1, 1)[:2]
        t, b = np.arange(blocks * threads) % threads, np.arange(blocks * threads) // threads
        wanted = t % x | (t // x % y) << 6 | (t // (x * y)) << 12 | b << 20
        return (np.full(blocks * threads, -1, i4),), {0: wanted}


for name, grid, block in (
    ("one_dimension", 3, 40), ("two_dimensions", (2, 3), (5, 7)), ("three_dimensions", (2, 1, 2), (3, 4, 5)),
    ("the_last_dimension", (1, 1, 3), (1, 1, 33)),
):  # fmt: skip
    _places(name, grid, block)


def _partial(threads: int) -> None:
    @c(
        """
        extern "C" __global__ void k(const int* in, int* out) {
            __shared__ int total;
            if (threadIdx.x == 0) total = 0;
            __syncthreads();
            atomicAdd(&total, in[threadIdx.x]);
            __syncthreads();
            out[threadIdx.x] = total;
        }""",
        1, threads, name=f"a_block_of_{threads}_threads",
    )  # fmt: skip
    def make(random):
        data = random.integers(0, 100, threads, dtype=i4)
        return (data, np.zeros(threads + 1, i4)), {1: [data.sum()] * threads + [0]}


for threads in (1, 31, 32, 33, 257):
    _partial(threads)


@c(
    """
    extern "C" __global__ void k(int* board_count, int n) {   // queens, an explicit stack in local memory
        int first = threadIdx.x, found = 0;
        if (first >= n) return;
        int column[12]; column[0] = first; int row = 1; column[1] = -1;
        while (row > 0) {
            bool placed = false;
            while (++column[row] < n) {
                bool ok = true;
                for (int r = 0; r < row && ok; ++r) { int d = column[row] - column[r]; ok = d != 0 && d != row - r && d != r - row; }
                if (ok) { placed = true; break; }
            }
            if (!placed) { --row; continue; }
            if (row == n - 1) { ++found; continue; }
            column[++row] = -1;
        }
        board_count[first] = found;
    }""",
    1, 32, long=True,
)  # fmt: skip
def queens_with_a_stack(random):
    return (np.zeros(7, i4), i4(7)), {0: [4, 7, 6, 6, 6, 7, 4]}
