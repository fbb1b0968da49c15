"""Blocks that wait for one another: barriers of the whole grid, look-back scans, locks; and those that wait in vain."""

import threading

import numpy as np
import pytest

from vgpu.base.context import LAUNCH_SLOT
from vgpu.base.errors import Deadlock, DeviceAssert, LaunchError, OutOfBounds
from vgpu.faults import Fault
from vgpu.hardware.device import device
from vgpu.launch.grid import Grid
from vgpu.standins import cupy as cp

i4, f4 = np.int32, np.float32

RIPPLE = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void ripple(float* x, int n, int rounds) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    for (int r = 0; r < rounds; r++) {
        float sum = x[i] + x[(i + 1) % n];
        grid.sync();
        x[i] = sum;
        grid.sync();
    }
}
"""


def rippled(x, rounds):
    for _ in range(rounds):
        x = x + np.roll(x, -1)
    return x


@pytest.mark.parametrize(("blocks", "threads"), [(1, 32), (2, 40), (7, 64), (19, 33)])
def test_a_grid_synchronises(engine, blocks, threads):
    start = (np.arange(blocks * threads) % 7).astype(f4)
    x = start.copy()
    engine.c(RIPPLE)(blocks, threads, x, i4(x.size), 3, cooperative=True)
    np.testing.assert_array_equal(x, rippled(start, 3))


def test_a_grid_of_two_dimensions_synchronises(engine):
    source = RIPPLE.replace("int i = grid.thread_rank();", "int i = grid.thread_rank(); if (grid.size() != n) return;")
    start = np.arange(6 * 32).astype(f4)
    x = start.copy()
    engine.c(source)((3, 2), (8, 4), x, i4(x.size), 2, cooperative=True)
    np.testing.assert_array_equal(x, rippled(start, 2))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_counts_of_a_grid_barrier_are_exact(compiled, threads):
    """A barrier of the grid is two of each block, and one update and one successful look of each block's leader."""
    blocks, rounds = 40, 5
    x = np.ones(blocks * 64, f4)
    counted = compiled.c(RIPPLE)(
        blocks, 64, x, i4(x.size), rounds, cooperative=True, observe=True, threads=threads
    )  # fmt: skip
    syncs, warps = 2 * rounds, 2 * blocks
    assert counted["barriers"] == 2 * syncs * warps
    assert counted["global_atomic_requests"] == syncs * blocks
    assert counted["global_load_requests"] == 2 * rounds * warps + syncs * blocks
    assert counted["global_store_requests"] == rounds * warps


def test_numba_synchronises_a_grid(engine):
    from numba import cuda

    def ripple(x, rounds):
        grid = cuda.cg.this_grid()
        i = cuda.grid(1)
        for _ in range(rounds):
            total = x[i] + x[(i + 1) % x.size]
            grid.sync()
            x[i] = total
            grid.sync()

    x = np.arange(160.0)
    engine.py(ripple)(5, 32, x, np.int64(3), cooperative=True)
    np.testing.assert_array_equal(x, rippled(np.arange(160.0), 3))


def test_raw_kernels_synchronise_a_grid():
    x = cp.arange(256, dtype=f4)
    kernel = cp.RawKernel(RIPPLE, "ripple", enable_cooperative_groups=True)
    kernel((8,), (32,), (x, 256, 2))
    np.testing.assert_array_equal(cp.asnumpy(x), rippled(np.arange(256, dtype=f4), 2))


def test_a_cooperative_grid_has_to_fit_on_the_gpu(compiled):
    x = np.zeros(64, f4)
    before = device().models
    device("A100")
    try:
        with pytest.raises(LaunchError, match="at most 3456 blocks"):
            compiled.c(RIPPLE)(3457, 64, x, 64, 1, cooperative=True)
        with pytest.raises(LaunchError, match="at most 108 blocks"):
            compiled.c(RIPPLE)(109, 64, x, 64, 1, cooperative=True, shared_bytes=100_000)
    finally:
        device(before)


def test_a_grid_barrier_that_a_block_skips_is_a_deadlock(engine):
    source = RIPPLE.replace(
        "        grid.sync();\n        x[i]", "        if (blockIdx.x != 3) grid.sync();\n        x[i]"
    )
    x = np.zeros(320, f4)
    # The block's next barrier completes the one it skipped; then the others wait at theirs for ever.
    with pytest.raises(Deadlock, match="line 10"):
        engine.c(source)(10, 32, x, 320, 1, cooperative=True)


def test_a_deadlocked_grid_says_who_waits_and_who_has_ended(compiled):
    source = RIPPLE.replace("int i =", "if (blockIdx.x >= 7) return;\n    int i =")
    with pytest.raises(
        Deadlock, match=r"7 blocks wait, the first \(0\) in thread \(0\), at line 9: grid.sync"
    ) as caught:
        compiled.c(source)(10, 32, np.zeros(320, f4), 320, 1, cooperative=True)
    assert "3 of the 10 blocks have ended" in str(caught.value)


def test_a_grid_barrier_in_an_ordinary_launch_traps(engine):
    with pytest.raises(DeviceAssert, match="trap"):
        engine.c(RIPPLE)(2, 32, np.zeros(64, f4), 64, 1)


# ---------------------------------------------------------------- ordinary launches

CHAIN = """extern "C" __global__ void chain(volatile int* flag, int* order, int* count, int step) {
    if (threadIdx.x == 0) {
        int next = blockIdx.x + step;
        if (next >= 0 && next < gridDim.x) while (flag[next] == 0);
        order[atomicAdd(count, 1)] = blockIdx.x;
        __threadfence();
        flag[blockIdx.x] = 1;
    }
}"""


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("blocks", [2, 23])
def test_blocks_wait_for_their_neighbour(engine, blocks, step):
    flag, order, count = np.zeros(blocks, i4), np.zeros(blocks, i4), np.zeros(1, i4)
    engine.c(CHAIN)(blocks, 32, flag, order, count, step)
    np.testing.assert_array_equal(order, np.arange(blocks)[::-step])


def test_many_blocks_wait_whatever_the_number_of_workers(compiled):
    for threads in (1, 2, 5):
        flag, order, count = np.zeros(700, i4), np.zeros(700, i4), np.zeros(1, i4)
        compiled.c(CHAIN)(700, 32, flag, order, count, 1, threads=threads)
        np.testing.assert_array_equal(order, np.arange(700)[::-1])


LOOK_BACK = """extern "C" __global__ void scan(const int* in, int* out, volatile int* flag, volatile int* own,
                                    volatile int* total, int* ticket) {
    __shared__ int s[64];
    __shared__ int tile, before;
    int t = threadIdx.x;
    if (t == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    s[t] = in[tile * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    if (t == 0) {
        own[tile] = s[63];
        __threadfence();
        flag[tile] = 1;
        int sum = 0;
        for (int i = tile - 1; i >= 0; i--) {
            int f;
            while ((f = flag[i]) == 0);
            __threadfence();
            if (f == 2) { sum += total[i]; break; }
            sum += own[i];
        }
        total[tile] = sum + s[63];
        __threadfence();
        flag[tile] = 2;
        before = sum;
    }
    __syncthreads();
    out[tile * 64 + t] = before + s[t];
}"""


@pytest.mark.parametrize("how", [{}, {"schedule": "random", "seed": 2}, {"schedule": "random", "seed": 3}])
def test_a_scan_that_looks_back(engine, how):
    tiles = 9
    numbers = np.random.default_rng(4).integers(-9, 9, tiles * 64).astype(i4)
    out, zeros = np.zeros_like(numbers), [np.zeros(tiles, i4) for _ in range(4)]
    engine.c(LOOK_BACK)(tiles, 64, numbers, out, *zeros, **how)
    np.testing.assert_array_equal(out, np.cumsum(numbers))


LOCK = """extern "C" __global__ void add(int* lock, volatile int* x, int n) {
    for (int i = 0; i < n; i++) {
        bool done = false;
        while (!done)
            if (atomicCAS(lock, 0, 1) == 0) {
                x[0] = x[0] + 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
    }
}"""


def test_a_lock_between_all_threads(engine):
    x = np.zeros(1, i4)
    engine.c(LOCK)(3, 64, np.zeros(1, i4), x, 2)
    assert x[0] == 3 * 64 * 2


def test_a_block_tries_until_a_later_one_lets_it(engine):
    source = """extern "C" __global__ void k(int* f) {
        if (threadIdx.x) return;
        if (blockIdx.x == 0) { while (atomicCAS(f, 1, 2) != 1); f[1] = 5; } else f[0] = 1; }"""
    f = np.zeros(2, i4)
    engine.c(source)(2, 32, f)
    assert f.tolist() == [2, 5]


def test_lanes_of_a_warp_wait_for_each_other(engine):
    source = """extern "C" __global__ void k(volatile int* f) {
        if (threadIdx.x < 16) { while (f[0] == 0); } else { f[1] = 2; __nanosleep(10); f[0] = 1; }
        f[2 + threadIdx.x] = 7; }"""
    f = np.zeros(34, i4)
    engine.c(source)(1, 32, f)
    assert f[:2].tolist() == [1, 2] and (f[2:] == 7).all()


def test_warps_of_a_block_wait_for_each_other(engine):
    source = """extern "C" __global__ void k(int* out) {
        __shared__ volatile int s;
        if (threadIdx.x == 0) s = 0;
        __syncthreads();
        if (threadIdx.x < 32) { while (s == 0); } else s = 1;
        out[threadIdx.x] = s; }"""
    out = np.zeros(96, i4)
    engine.c(source)(2, 96, out)
    assert (out == 1).all()


def test_waiting_for_what_nobody_sends_is_a_deadlock(engine):
    source = """extern "C" __global__ void k(volatile int* f) {
        while (f[0] == 0);
        f[1] = 1; }"""
    with pytest.raises(Deadlock, match="line 2"):
        engine.c(source)(3, 64, np.zeros(2, i4))


def test_a_fault_ends_blocks_that_wait_for_the_one_that_failed(compiled):
    source = """extern "C" __global__ void k(volatile int* f) {
        if (blockIdx.x == 5) { if (threadIdx.x == 0) f[1 << 30] = 1; f[0] = 1; }
        while (f[0] == 0); }"""
    for threads in (1, 2):
        with pytest.raises(OutOfBounds, match=r"block \(5\)"):
            compiled.c(source)(9, 32, np.zeros(2, i4), threads=threads)


# ---------------------------------------------------------------- groups of threads

GROUPS = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* in, int* out) {
    auto block = cg::this_thread_block();
    int t = block.thread_rank(), v = in[t];
    BODY
}"""
V = np.random.default_rng(1).integers(0, 100, 64).astype(i4)
T = np.arange(64)


def by_group(labels, function):
    """`function` of each group's values, in order, laid where its threads are; groups do not cross warps."""
    out = np.zeros(64, i4)
    for key in {(int(t) // 32, int(label)) for t, label in zip(T, labels, strict=True)}:
        here = (key[0] == T // 32) & (labels == key[1])
        out[here] = function(V[here])
    return out


def rank(v):
    return np.arange(len(v))


CASES = {
    "static tiles": (
        "auto g = cg::tiled_partition<8>(block); out[t] = g.shfl(v, 3) + 100 * g.meta_group_rank() "
        "+ 1000 * g.meta_group_size() + 10000 * g.any(v > 90);",
        by_group(T // 8, lambda v: v[3] + 10000 * (v > 90).any()) + 100 * (T // 8) + 8000,
    ),
    "dynamic tiles": (
        "auto g = cg::tiled_partition(block, 16); g.sync(); out[t] = g.thread_rank() + 100 * g.size();",
        T % 16 + 1600,
    ),
    "labels": (
        "auto g = cg::labeled_partition(cg::tiled_partition<32>(block), v % 4); "
        "out[t] = g.thread_rank() + 100 * g.size() + 10000 * cg::reduce(g, v, cg::plus<int>());",
        by_group(V % 4, lambda v: rank(v) + 100 * len(v) + 10000 * v.sum()),
    ),
    "two halves": (
        "auto g = cg::binary_partition(cg::tiled_partition<32>(block), v % 2 == 0); "
        "out[t] = g.thread_rank() + 100 * g.size() + 10000 * cg::reduce(g, v, cg::less<int>());",
        by_group(V % 2, lambda v: rank(v) + 100 * len(v) + 10000 * v.min()),
    ),
    "inclusive scan": (
        "auto g = cg::tiled_partition<32>(block); out[t] = cg::inclusive_scan(g, v);",
        by_group(T // 32, np.cumsum),
    ),
    "exclusive scan": (
        "auto g = cg::tiled_partition<16>(block); out[t] = cg::exclusive_scan(g, v, cg::plus<int>());",
        by_group(T // 16, lambda v: np.cumsum(v) - v),
    ),
    "greatest so far": (
        "auto g = cg::tiled_partition<8>(block); out[t] = cg::inclusive_scan(g, v, cg::greater<int>());",
        by_group(T // 8, np.maximum.accumulate),
    ),
    "grid": (
        "auto g = cg::this_grid(); out[t] = g.size() + 1000 * g.thread_rank() + 7 * g.num_blocks() + g.block_rank();",
        64 + 1000 * T + 7,
    ),
    "block": (
        "out[t] = block.group_index().x + 10 * block.dim_threads().x + 1000 * block.thread_index().x; cg::sync(block);",
        640 + 1000 * T,
    ),
}  # fmt: skip
COALESCED = {
    "ranks": ("g.thread_rank() + 100 * g.size() + 10000 * g.shfl(v, 0)",
              lambda v: rank(v) + 100 * len(v) + 10000 * v[0]),
    "scan": ("cg::exclusive_scan(g, v)", lambda v: np.cumsum(v) - v),
}  # fmt: skip


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("name", CASES)
def test_groups_of_threads(engine, name, seed):
    body, expected = CASES[name]
    out = np.zeros(64, i4)
    how = {} if seed is None else {"schedule": "random", "seed": seed}
    engine.c(GROUPS.replace("BODY", body))(1, 64, V, out, **how)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("name", COALESCED)
def test_threads_that_run_together(engine, name):
    """In order, all threads of a branch run together; no schedule is bound to that."""
    code, function = COALESCED[name]
    body = f"out[t] = -1; if (v % 3 == 0) {{ auto g = cg::coalesced_threads(); out[t] = {code}; }}"
    out = np.zeros(64, i4)
    engine.c(GROUPS.replace("BODY", body))(1, 64, V, out)
    np.testing.assert_array_equal(out, np.where(V % 3 == 0, by_group(V % 3, function), -1))


def test_the_lowest_block_that_failed_is_reported_whatever_came_first():
    """Workers fail in any order; no block past the lowest is started any more."""
    run = Grid.__new__(Grid)
    run.lock, run.fault, run.shared = threading.Lock(), None, np.full(len(LAUNCH_SLOT), 100, np.int64)
    for block in (5, 2, 7, 3):
        run.report(Fault("trap", block))
    assert run.fault.block == 2 and run.shared[LAUNCH_SLOT["stop_block"]] == 2
