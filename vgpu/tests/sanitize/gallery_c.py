"""Classic mistakes in CUDA C, each with its correct twin.

A case is one source with two halves: `WRONG` is defined for the mistake and not for its twin. The lines that a
finding must name end in `//!`; a case may expect one finding at several lines (both of them are named).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Case:
    """One mistake: `args` makes the arguments (NumPy arrays go to the device) for the wrong half or the right one."""

    name: str
    kind: str
    source: str
    grid: tuple
    block: tuple
    args: Callable
    options: dict = field(default_factory=dict)
    gpu: str | None = None  # the GPU to model, where it takes a newer one
    cooperative: bool = False


CASES: list[Case] = []
f4, i4 = np.float32, np.int32


def case(kind, source, block, args, grid=1, **options):
    def three(size):
        return size if isinstance(size, tuple) else (size,)

    name = f"{kind}-{len(CASES)}"
    CASES.append(Case(name, kind, source, three(grid), three(block), args, options))


def floats(n):
    return np.arange(1, n + 1, dtype=f4)


def reversed_through_shared(wrong):
    return floats(128), np.zeros(128, f4)


case("race_read_write", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = a[t]; //!
#ifndef WRONG
    __syncthreads();
#endif
    out[t] = s[127 - t]; //!
}""", 128, reversed_through_shared)  # fmt: skip

case("race_read_write", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < 4; ++tile) {
        s[t] = a[64 * tile + t]; //!
        __syncthreads();
        for (int i = 0; i < 64; ++i)
            sum += s[i]; //!
#ifndef WRONG
        __syncthreads();
#endif
    }
    out[t] = sum;
}""", 64, lambda wrong: (floats(256), np.zeros(64, f4)))  # fmt: skip

case("race_read_write", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    s[t + 32] = a[t + 32];
    __syncwarp();
    volatile float* v = s;
    for (int step = 32; step > 0; step /= 2) {
        float other = v[t + step < 64 ? t + step : 63]; //!
#ifndef WRONG
        __syncwarp();
#endif
        v[t] += other; //!
#ifndef WRONG
        __syncwarp();
#endif
    }
    if (t == 0) *out = v[0];
}""", 32, lambda wrong: (floats(64), np.zeros(1, f4)))  # fmt: skip

case("race_lanes", """
extern "C" __global__ void k(const float* a, int* out) {
    __shared__ int last;
    int t = threadIdx.x;
    if (t == 0) last = -1;
    __syncthreads();
#ifdef WRONG
    if (a[t] > 3) last = t; //!
#else
    if (a[t] > 3) atomicMax(&last, t);
#endif
    __syncthreads();
    if (t == 0) *out = last;
}""", 32, lambda wrong: (floats(32), np.zeros(1, i4)))  # fmt: skip

case("race_read_write", """
extern "C" __global__ void k(const int* bin, int* out) {
    __shared__ int count[8];
    int t = threadIdx.x;
    if (t < 8) count[t] = 0;
    __syncthreads();
#ifdef WRONG
    count[bin[t]]++; //!
#else
    atomicAdd(&count[bin[t]], 1);
#endif
    __syncthreads();
    if (t < 8) out[t] = count[t];
}""", 128, lambda wrong: (np.arange(128, dtype=i4) % 8, np.zeros(8, i4)))  # fmt: skip

case("race_write_write", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float first;
    int t = threadIdx.x;
#ifdef WRONG
    if (t % 32 == 0) first = a[t]; //!
#else
    if (t == 0) first = a[t];
#endif
    __syncthreads();
    out[t] = first;
}""", 128, lambda wrong: (floats(128), np.zeros(128, f4)))  # fmt: skip

case("out_of_bounds", """
extern "C" __global__ void k(const float* a, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef WRONG
    if (i <= n)
#else
    if (i < n)
#endif
        out[i] = 2 * a[i]; //!
}""", 32, lambda wrong: (floats(100), np.zeros(128, f4)[:100].copy(), i4(100)), 4)  # fmt: skip

case("overrun", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float left[32];
    __shared__ float right[40];
    int t = threadIdx.x;
    right[t] = a[t];
    __syncthreads();
#ifdef WRONG
    left[t + 1] = a[t]; //!
#else
    left[t] = a[t];
#endif
    __syncthreads();
    out[t] = left[(t + 5) % 31 + 1] + right[(t + 3) % 32];
}""", 32, lambda wrong: (floats(32), np.zeros(32, f4)))  # fmt: skip

case("null_pointer", """
extern "C" __global__ void k(const float* a, const float* bias, float* out) {
    int t = threadIdx.x;
    float x = a[t];
#ifndef WRONG
    if (bias)
#endif
        x += bias[t]; //!
    out[t] = x;
}""", 32, lambda wrong: (floats(32), np.uint64(0), np.zeros(32, f4)))  # fmt: skip

case("misaligned", """
extern "C" __global__ void k(const float* a, float* out) {
    int t = threadIdx.x;
#ifdef WRONG
    float4 v = *reinterpret_cast<const float4*>(a + 4 * t + 1); //!
#else
    float4 v = *reinterpret_cast<const float4*>(a + 4 * t);
#endif
    out[t] = v.x + v.y + v.z + v.w;
}""", 8, lambda wrong: (floats(64), np.zeros(8, f4)))  # fmt: skip

case("barrier_divergent", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
#ifdef WRONG
    if (t % 2) {
        s[t] = a[t];
        __syncthreads(); //!
    } else {
        s[t] = -a[t];
        __syncthreads();
    }
#else
    s[t] = t % 2 ? a[t] : -a[t];
    __syncthreads();
#endif
    out[t] = s[63 - t];
}""", 64, lambda wrong: (floats(64), np.zeros(64, f4)))  # fmt: skip

case("barrier_divergent", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
#ifdef WRONG
    if (t < 32) {
        s[t] = a[t];
        __syncthreads(); //!
    } else {
        s[t] = -a[t];
        __syncthreads(); //!
    }
#else
    s[t] = t < 32 ? a[t] : -a[t];
    __syncthreads();
#endif
    out[t] = s[63 - t];
}""", 64, lambda wrong: (floats(64), np.zeros(64, f4)))  # fmt: skip

case("barrier_ended", """
extern "C" __global__ void k(const float* a, float* out, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
#ifdef WRONG
    if (t >= n) return;
    s[t] = a[t];
    __syncthreads(); //!
    out[t] = s[n - 1 - t];
#else
    if (t < n) s[t] = a[t];
    __syncthreads();
    if (t < n) out[t] = s[n - 1 - t];
#endif
}""", 64, lambda wrong: (floats(64), np.zeros(64, f4), i4(50)))  # fmt: skip

case("barrier_count", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
#ifdef WRONG
    asm volatile("bar.sync 1, 48;" ::: "memory"); //!
    __syncthreads();
#else
    asm volatile("bar.sync 1, 64;" ::: "memory");
#endif
    out[t] = s[63 - t];
}""", 64, lambda wrong: (floats(64), np.zeros(64, f4)))  # fmt: skip

case("mask_absent", """
extern "C" __global__ void k(const int* a, int* out) {
    int t = threadIdx.x, sum = 0;
    if (t < 16) {
        sum = a[t];
#ifdef WRONG
        unsigned mask = 0xffffffff;
#else
        unsigned mask = 0x0000ffff;
#endif
        for (int step = 8; step > 0; step /= 2)
            sum += __shfl_down_sync(mask, sum, step, 16); //!
        if (t == 0) *out = sum;
    } else {
        out[t] = a[t] * a[t];
    }
    __syncthreads();
    if (t == 1) out[t] = out[0];
}""", 32, lambda wrong: (np.arange(32, dtype=i4), np.zeros(32, i4)))  # fmt: skip

case("mask_ended", """
extern "C" __global__ void k(const float* a, float* out, int n) {
    int t = threadIdx.x;
#ifdef WRONG
    if (t >= n) return;
    float sum = a[t];
#else
    float sum = t < n ? a[t] : 0;
#endif
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step); //!
    if (t == 0) *out = sum;
}""", 32, lambda wrong: (floats(32), np.zeros(1, f4), i4(27)))  # fmt: skip

case("shuffle_absent", """
extern "C" __global__ void k(const int* a, int* out) {
    int t = threadIdx.x;
    if (t < 8) {
#ifdef WRONG
        out[t] = a[t] + __shfl_xor_sync(0xff, a[t], 8); //!
#else
        out[t] = a[t] + __shfl_xor_sync(0xff, a[t], 4);
#endif
    }
}""", 32, lambda wrong: (np.arange(32, dtype=i4), np.zeros(8, i4)))  # fmt: skip

case("mask_self", """
extern "C" __global__ void k(const int* a, int* out) {
    int t = threadIdx.x;
#ifdef WRONG
    out[t] = __ballot_sync(0xfffffffe, a[t] > 3); //!
#else
    out[t] = __ballot_sync(0xffffffff, a[t] > 3);
#endif
}""", 32, lambda wrong: (np.arange(32, dtype=i4), np.zeros(32, i4)))  # fmt: skip

case("activemask", """
extern "C" __global__ void k(const int* a, int* out) {
    int t = threadIdx.x;
#ifndef WRONG
    unsigned mask = __ballot_sync(0xffffffff, a[t] > 10);
#endif
    if (a[t] > 10) {
#ifdef WRONG
        unsigned mask = __activemask();
#endif
        int smallest = __reduce_min_sync(mask, a[t]); //!
        out[t] = smallest;
    }
}""", 32, lambda wrong: (np.arange(32, dtype=i4), np.zeros(32, i4)))  # fmt: skip

case("uninitialised", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[66];
    int t = threadIdx.x;
    s[t + 1] = a[t];
#ifndef WRONG
    if (t == 0) s[0] = s[65] = 0;
#endif
    __syncthreads();
    out[t] = s[t] + s[t + 2]; //!
}""", 64, lambda wrong: (floats(64), np.zeros(64, f4)))  # fmt: skip

case("uninitialised", """
extern "C" __global__ void k(const int* a, float* out) {
    float mine[8];
    int t = threadIdx.x;
#ifdef WRONG
    for (int i = 0; i < a[t]; ++i)
#else
    for (int i = 0; i < 8; ++i)
#endif
        mine[i] = i + t;
    out[t] = mine[a[t + 32]]; //!
}""", 32, lambda wrong: (np.r_[np.full(32, 4), np.full(32, 5)].astype(i4), np.zeros(32, f4)))  # fmt: skip

case("uninitialised", """
extern "C" __global__ void k(float* sums, const float* a) {
    int t = threadIdx.x;
    sums[t] += a[t]; //!
}""", 32, lambda wrong: ("empty" if wrong else np.zeros(32, f4), floats(32)))  # fmt: skip

case("race_atomic", """
extern "C" __global__ void k(const int* a, int* out) {
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0) sum = 0; //!
#ifndef WRONG
    __syncthreads();
#endif
    atomicAdd(&sum, a[t]); //!
    __syncthreads();
    if (t == 0) *out = sum;
}""", 128, lambda wrong: (np.arange(128, dtype=i4), np.zeros(1, i4)))  # fmt: skip

case("race_read_write", """
extern "C" __global__ void k(const float* a, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, a[i]);
    __syncthreads();
#ifdef WRONG
    if (threadIdx.x == 0) *out += sum; //!
#else
    if (threadIdx.x == 0) atomicAdd(out, sum);
#endif
}""", 32, lambda wrong: (floats(128), np.zeros(1, f4)), 4, races_in_global=True)  # fmt: skip

case("race_read_write", """
__device__ unsigned done;
extern "C" __global__ void k(const float* a, float* partial, float* out) {
    __shared__ bool last;
    int b = blockIdx.x, t = threadIdx.x;
    if (t == 0) {
        partial[b] = a[b] * 2; //!
#ifndef WRONG
        __threadfence();
#endif
        last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += partial[i]; //!
        *out = sum;
    }
}""", 32, lambda wrong: (floats(8), np.zeros(8, f4), np.zeros(1, f4)), 8, races_in_global=True)  # fmt: skip

case("race_read_write", """
extern "C" __global__ void k(int* count, const int* a) {
    __shared__ int lock, sum;
    int t = threadIdx.x;
    if (t == 0) lock = sum = 0;
    __syncthreads();
    if (t % 32 == 0) {
        while (atomicCAS(&lock, 0, 1)) {}
#ifndef WRONG
        __threadfence_block();
#endif
        sum = sum + a[t]; //!
#ifndef WRONG
        __threadfence_block();
#endif
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (t == 0) *count = sum;
}""", 128, lambda wrong: (np.zeros(1, i4), np.arange(1, 129, dtype=i4)))  # fmt: skip

case("race_read_write", """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
#ifdef WRONG
        if (t >= step) s[t] += s[t - step]; //!
#else
        float other = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += other;
#endif
        __syncthreads();
    }
    out[t] = s[t];
}""", 128, lambda wrong: (floats(128), np.zeros(128, f4)))  # fmt: skip

case("out_of_bounds", """
extern "C" __global__ void k(const float* a, float* out) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    s[t] = a[t]; //!
    __syncthreads();
    out[t] = s[t]; //!
}""", 64, lambda wrong: (floats(64), np.zeros(64, f4)), shared_bytes=lambda wrong: 128 if wrong else 256)  # fmt: skip

case("out_of_bounds", """
__constant__ float weights[5];
extern "C" __global__ void k(const float* a, float* out, int n) {
    int t = threadIdx.x;
    float sum = 0;
#ifdef WRONG
    for (int i = 0; i <= n; ++i)
#else
    for (int i = 0; i < n; ++i)
#endif
        sum += weights[i] * a[t + i]; //!
    out[t] = sum;
}""", 32, lambda wrong: (floats(64), np.zeros(32, f4), i4(5)))  # fmt: skip

case("out_of_bounds", """
extern "C" __global__ void k(const int* a, int* out) {
    int mine[4];
    int t = threadIdx.x;
    for (int i = 0; i < 4; ++i) mine[i] = i * t;
    out[t] = mine[a[t]]; //!
}""", 32, lambda wrong: (np.arange(32, dtype=i4) % (5 if wrong else 4), np.zeros(32, i4)))  # fmt: skip

case("assertion", """
extern "C" __global__ void k(const int* a, int* out) {
    assert(a[threadIdx.x] < 40); //!
    out[threadIdx.x] = a[threadIdx.x];
}""", 64, lambda wrong: (np.arange(64, dtype=i4) // (1 if wrong else 2), np.zeros(64, i4)))  # fmt: skip

case("trap", """
extern "C" __global__ void k(const int* a, int* out) {
    if (a[threadIdx.x] == 40)
        __trap(); //!
    out[threadIdx.x] = a[threadIdx.x];
}""", 64, lambda wrong: (np.arange(64, dtype=i4) // (1 if wrong else 2), np.zeros(64, i4)))  # fmt: skip

case("deadlock", """
extern "C" __global__ void k(volatile int* flag, int* out) {
    while (*flag == 0) {} //!
    out[threadIdx.x] = 1;
}""", 32, lambda wrong: (np.array([0 if wrong else 1], i4), np.zeros(32, i4)))  # fmt: skip

case("timeout", """
extern "C" __global__ void k(const int* steps, int* out) {
    int sum = 0;
    for (int i = 0; i != 12; i += steps[threadIdx.x]) sum += i; //!
    out[threadIdx.x] = sum;
}""", 32, lambda wrong: (np.full(32, 5 if wrong else 4, i4), np.zeros(32, i4)), timeout=0.3)  # fmt: skip

case("race_read_write", """
extern "C" __global__ void k(const float* a, float* out) {
    // two warps hand a buffer over: one fills it, the other reads it
    __shared__ float buffer[32];
    int t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int i = 0; i < 4; ++i) {
            if (i > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
            buffer[t] = a[32 * i + t]; //!
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else {
        for (int i = 0; i < 4; ++i) {
#ifndef WRONG
            asm volatile("bar.sync 1, 64;" ::: "memory");
#endif
            out[32 * i + t] = buffer[31 - t]; //!
            if (i < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}""", 64, lambda wrong: (floats(128), np.zeros(128, f4)))  # fmt: skip

case("race_read_write", """
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &a[t], 4); //!
    __pipeline_commit();
    __pipeline_wait_prior(0);
#ifndef WRONG
    __syncthreads();
#endif
    out[t] = s[127 - t]; //!
}""", 128, reversed_through_shared)  # fmt: skip

case("stack_overflow", """
__device__ __noinline__ int depth(int n) {
    int below = n == 0 ? 0 : depth(n - 1); //!
    return below * 3 + 1;
}
extern "C" __global__ void k(int* out, int n) { out[threadIdx.x] = depth(threadIdx.x + n); }
""", 32, lambda wrong: (np.zeros(32, i4), i4(1 << 20 if wrong else 0)))  # fmt: skip

case("partial_warp", """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const half* a, half* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> m;
#ifdef WRONG
    if (threadIdx.x < 20)
#endif
        wmma::load_matrix_sync(m, a, 16); //!
    out[threadIdx.x] = m.x[0];
}""", 32, lambda wrong: (np.zeros(256, np.float16), np.zeros(32, np.float16)))  # fmt: skip
