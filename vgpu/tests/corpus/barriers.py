"""Barriers: those of a block, named ones, those that vote, and the grid's."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

import numpy as np

from vgpu.tests.corpus.row import c

f4, i4, u4 = np.float32, np.int32, np.uint32


@c(
    """
    extern "C" __global__ void k(const int* in, int* out) {
        int v = in[threadIdx.x];
        out[threadIdx.x] = __syncthreads_count(v > 2);
        out[100 + threadIdx.x] = __syncthreads_and(v >= 0) + 2 * __syncthreads_or(v == 1000);
        out[200 + threadIdx.x] = __syncthreads_and(v > 0) + 2 * __syncthreads_or(v == 3);
    }""",
    1, 100, check=True,
)  # fmt: skip
def barriers_that_count_and_vote(random):
    data = random.integers(0, 6, 100, dtype=i4)
    return (data, np.zeros((3, 100), i4)), {1: np.repeat([[np.count_nonzero(data > 2)], [1], [2]], 100, 1)}


@c(
    """
    extern "C" __global__ void k(int* data, int n) {
        __shared__ int s[128];
        int i = threadIdx.x;
        if (i >= n) return;
        s[i] = data[i];
        __syncthreads();
        int left = i > 0 ? s[i - 1] : 0;
        __syncthreads();
        data[i] = left + s[i];
    }""",
    1, 128, check=True,
)  # fmt: skip
def threads_that_have_returned_do_not_count_at_a_barrier(random):
    data = random.integers(0, 100, 128, dtype=i4)
    wanted = data.copy()
    wanted[1:77] += data[:76]
    return (data, i4(77)), {0: wanted}


@c(
    """
    extern "C" __global__ void k(int* out) {
        __shared__ int s[128];
        int i = threadIdx.x, half = i / 64;
        s[i] = i;
        if (half) asm volatile("bar.sync 1, 64;" ::: "memory");
        else asm volatile("bar.sync 2, 64;" ::: "memory");
        out[i] = s[half * 64 + (i + 33) % 64];
    }""",
    1, 128, check=True,
)  # fmt: skip
def named_barriers(random):
    i = np.arange(128)
    return (np.zeros(128, i4),), {0: i // 64 * 64 + (i + 33) % 64}


@c(
    """
    .version 7.8
    .target sm_80
    .address_size 64
    .visible .entry k(.param .u64 out) {
        .reg .u64 %rd<5>; .reg .u32 %r<7>; .reg .pred %p;
        .shared .align 16 .b8 own[64];
        ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;
        mov.u32 %r1, %ctaid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r1, %r1, 32, %r6; mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd1, %rd1, %rd2;
        mov.u32 %r2, %reserved_smem_offset_1;
        shl.b32 %r3, %r6, 2; add.u32 %r3, %r3, %r2;
        atom.shared.add.u32 %r4, [%r3], 7;
        st.global.u32 [%rd1], %r4;
        ret;
    }
    """,
    3, 32,
)  # fmt: skip
def reserved_shared_memory_is_zero_for_each_block(random):
    """Counters in it start from nothing in every block, as the barriers of cooperative groups expect from 8.0 on."""
    return (np.ones(96, u4),), {0: np.zeros(96)}


@c(
    """
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __device__ void dot(const float* a, const float* b, double* out, int n, cg::grid_group grid) {
        double sum = 0;
        for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += (double)a[i] * b[i];
        for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
        grid.sync();
    }
    extern "C" __global__ void k(const int* starts, const int* columns, const float* values, float* x, float* r, float* p, float* ap,
                                 double* dots, int n, int rounds) {
        cg::grid_group grid = cg::this_grid();
        dot(r, r, dots, n, grid);
        for (int round = 0; round < rounds; round++) {
            for (int i = grid.thread_rank(); i < n; i += grid.size()) {
                float sum = 0;
                for (int j = starts[i]; j < starts[i + 1]; j++) sum += values[j] * p[columns[j]];
                ap[i] = sum;
            }
            grid.sync();
            dot(p, ap, dots + 2 * round + 1, n, grid);
            float alpha = dots[2 * round] / dots[2 * round + 1];
            for (int i = grid.thread_rank(); i < n; i += grid.size()) { x[i] += alpha * p[i]; r[i] -= alpha * ap[i]; }
            grid.sync();
            dot(r, r, dots + 2 * round + 2, n, grid);
            float beta = dots[2 * round + 2] / dots[2 * round];
            for (int i = grid.thread_rank(); i < n; i += grid.size()) p[i] = r[i] + beta * p[i];
            grid.sync();
        }
    }""",
    2, 32, cooperative=True, counts=False, rtol=1e-3, atol=1e-4, long=True,
)  # fmt: skip
def conjugate_gradients_in_one_cooperative_launch(random):
    n = 64
    a = np.diag(np.full(n, 4.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    b = random.normal(size=n).astype(f4)
    rows, columns = np.nonzero(a)
    starts = np.searchsorted(rows, np.arange(n + 1)).astype(i4)
    state = (np.zeros(n, f4), b, b.copy(), np.zeros(n, f4), np.zeros(64), i4(n), i4(20))
    return (starts, columns.astype(i4), a[rows, columns].astype(f4), *state), {3: np.linalg.solve(a, b)}


@c(
    """
    extern "C" __global__ void k(const int* in, int* out) {
        __shared__ int slot;
        int sum = 0;
        for (int i = 0; i < 4; ++i) {
            if (threadIdx.x < 32) {
                if (i) asm volatile("bar.sync 2, 64;" ::: "memory");
                if (threadIdx.x == 0) slot = in[i];
                asm volatile("bar.arrive 1, 64;" ::: "memory");
            } else {
                asm volatile("bar.sync 1, 64;" ::: "memory");
                sum += slot;
                if (i < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
            }
        }
        out[threadIdx.x] = sum;
    }""",
    1, 64,
)  # fmt: skip
def arrivals_at_a_barrier_are_forgotten_when_it_opens(random):
    data = random.integers(1, 100, 4, dtype=i4)
    return (data, np.zeros(64, i4)), {1: np.repeat([0, data.sum()], 32)}
