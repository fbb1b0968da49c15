"""Threads that wait for others of their warp, block or grid: under every schedule those others get their turn.

Each kernel of the table is right on a GPU whose threads make progress on their own; so it has to end here, in order
and under every seed, with the same result.
"""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.errors import Deadlock
from vgpu.tests.test_mbarrier import ASM

f4 = np.float32
SEEDS = range(4)
HEAD = 'extern "C" __global__ void k(const float* in, float* out, int n) { int t = threadIdx.x;\n'
LOCK = "while (atomicCAS(&lock, 0, 1) != 0) { WAIT } s += 1; __threadfence_block(); atomicExch(&lock, 0);"

# source, grid, block
CASES = {
    "lanes of a warp at two mbarriers": (
        ASM + HEAD + """__shared__ u64 full, empty; __shared__ float slot;
        if (t == 0) { init(&full, 1); init(&empty, 31); } __syncwarp();
        if (t != 0) { float sum = 0;
            for (int i = 0; i < n; ++i) { wait(&full, i & 1); sum += slot; arrive(&empty); } out[t] = sum; }
        else for (int i = 0; i < n; ++i) { if (i) wait(&empty, (i - 1) & 1); slot = in[i]; arrive(&full); } }""",
        1, 32,
    ),
    "work between two groups at an mbarrier": (
        ASM + HEAD + """__shared__ u64 b; __shared__ volatile float slot; if (t == 0) init(&b, 1); __syncwarp();
        if (t < 10) { wait(&b, 0); out[t] = slot; }
        else if (t == 10) { float s = 0;
            #pragma unroll 1
            for (int i = 0; i < 8 * n; ++i) s += in[i % n];
            slot = s; arrive(&b); }
        else { wait(&b, 0); out[t] = slot + 1; } }""",
        1, 32,
    ),
    "a spin lock within a warp": (
        HEAD + """__shared__ int lock; __shared__ volatile float s; if (t == 0) { lock = 0; s = 0; } __syncthreads();
        """ + LOCK.replace("WAIT", "") + " __syncthreads(); out[t] = s; }",
        1, 48,
    ),
    "a spin lock with nanosleep": (
        HEAD + """__shared__ int lock; __shared__ volatile float s; if (t == 0) { lock = 0; s = 0; } __syncthreads();
        """ + LOCK.replace("WAIT", "__nanosleep(20);") + " __syncthreads(); out[t] = s; }",
        1, 32,
    ),
    "locks taken over from lane to lane": (
        HEAD + """__shared__ int key; __shared__ volatile float s; if (t == 0) { key = -1; s = 0; } __syncwarp();
        if (t < 10) { while (atomicCAS(&key, 2, 3) != 2) {} s += 1; __threadfence_block(); atomicExch(&key, 2); }
        else if (t == 10) { for (int i = 0; i < n; ++i) s += in[i]; __threadfence_block(); atomicExch(&key, 1); }
        else if (t == 11) { while (atomicCAS(&key, 1, 3) != 1) {} s += 3; __threadfence_block(); atomicExch(&key, 2); }
        else { while (atomicCAS(&key, 2, 3) != 2) {} s += 1; __threadfence_block(); atomicExch(&key, 2); }
        __syncwarp(); out[t] = s; }""",
        1, 32,
    ),
    "a relay of flags from lane to lane": (
        """#include <cuda/atomic>
        """ + HEAD + """__shared__ cuda::atomic<int, cuda::thread_scope_block> at; __shared__ float s;
        if (t == 0) { at.store(0, cuda::memory_order_relaxed); s = 0; } __syncthreads();
        while (at.load(cuda::memory_order_acquire) != (t * 7) % 32) {}
        s = s * 0.5f + in[t % n]; out[t] = s; at.store((t * 7) % 32 + 1, cuda::memory_order_release); }""",
        1, 32,
    ),
    "sleeping for a flag that a later lane sets": (
        HEAD + """__shared__ volatile int flag; if (t == 0) flag = 0; __syncwarp();
        if (t < 7) { while (flag == 0) __nanosleep(100); out[t] = 1; }
        else if (t < 20) { out[t] = 2; }
        else { if (t == 31) { __threadfence_block(); flag = 1; } out[t] = 3; } }""",
        1, 32,
    ),
    "lanes at a barrier with a count": (
        HEAD + """__shared__ float s[64]; s[t] = in[t % n];
        if (t < 32) asm volatile("barrier.arrive 1, 64;" ::: "memory");
        else { if (t & 1) asm volatile("barrier.sync 1, 64;" ::: "memory");
               else asm volatile("barrier.sync 1, 64;" ::: "memory"); out[t] = s[t - 32]; } }""",
        1, 64,
    ),
    "a flag within a warp and an mbarrier beside it": (
        ASM + HEAD + """__shared__ u64 b; __shared__ volatile int flag;
        if (t == 0) { init(&b, 1); flag = 0; } __syncthreads();
        if (t < 5) { while (flag == 0) {} out[t] = 1; }
        else if (t < 32) { if (t == 7) { arrive(&b); flag = 1; } out[t] = 2; }
        else { wait(&b, 0); out[t] = 3; } }""",
        1, 64,
    ),
    "an mbarrier behind another block's flag": (
        ASM + HEAD + """__shared__ u64 b; volatile int* flags = (volatile int*)(out + 256); int i = blockIdx.x;
        if (t == 0) init(&b, 32); __syncthreads();
        if (t < 32) { if (t == 0) { if (i + 1 < gridDim.x) while (flags[i + 1] == 0) {}
                __threadfence(); flags[i] = 1; }
            __syncwarp(); arrive(&b); out[64 * i + t] = 1; }
        else { wait(&b, 0); out[64 * i + t] = 2; } }""",
        3, 64,
    ),
    "a lock, then a flag of another block": (
        HEAD + """__shared__ int lock; volatile int* flags = (volatile int*)(out + 256); int i = blockIdx.x;
        __shared__ volatile float s; if (t == 0) { lock = 0; s = 0; } __syncthreads();
        """ + LOCK.replace("WAIT", "") + """ __syncthreads();
        if (t == 0) { if (i + 1 < gridDim.x) while (flags[i + 1] == 0) {} __threadfence(); flags[i] = 1; }
        __syncthreads(); out[64 * i + t] = s; }""",
        3, 32,
    ),
    "blocks that ask for one another between barriers": (
        HEAD + """__shared__ int seen; int* count = (int*)(out + 299); int i = blockIdx.x;
        if (t == 0) { out[i] = in[i]; __threadfence(); atomicAdd(count, 1); }
        do { if (t == 0) seen = atomicAdd(count, 0); __syncthreads(); int s = seen; __syncthreads();
             if (s == gridDim.x) break; } while (true);
        __threadfence(); out[32 + 32 * i + t] = ((volatile float*)out)[(i + 1) % gridDim.x]; }""",
        7, 32,
    ),
}  # fmt: skip


def ran(kernel, grid, block, **options) -> np.ndarray:
    data, out = np.arange(1, 10, dtype=f4), np.zeros(300, f4)
    kernel(grid, block, data, out, 9, **options)
    return out


@pytest.mark.parametrize("name", CASES)
def test_whoever_waits_lets_the_others_go(engine, name):
    source, grid, block = CASES[name]
    kernel = engine.c(source, arch="compute_90")
    in_order = ran(kernel, grid, block)
    assert in_order.any()
    for seed in SEEDS:
        np.testing.assert_array_equal(ran(kernel, grid, block, schedule="random", seed=seed), in_order)


def test_long_work_between_two_groups_that_wait(compiled):
    """A slice of the lane that works is far longer than the turns in which the others ask in vain."""
    source, grid, block = CASES["work between two groups at an mbarrier"]
    kernel = compiled.c(source.replace("8 * n", "20000 * n"), arch="compute_90")
    for options in ({}, {"schedule": "random", "seed": 1}):
        out = ran(kernel, grid, block, **options)
        assert out[0] == 900_000 and out[31] == 900_001


NEVER = {
    "an mbarrier": ("if (t == 0) init(&b, 257); __syncthreads(); arrive(&b); wait(&b, 0);", range(2)),
    "an mbarrier and a flag": (
        "if (t == 0) { init(&b, 1); flag = 0; } __syncthreads(); if (t < 5) while (flag == 0) {} else wait(&b, 0);", (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NEVER)
def test_what_never_comes_is_a_deadlock(engine, name):
    text, seeds = NEVER[name]
    source = ASM + HEAD + f"__shared__ u64 b; __shared__ volatile int flag; {text} out[t] = flag; }}"
    kernel = engine.c(source, arch="compute_90")
    threads, seeds = (256, seeds) if engine.name == "compiled" else (40, ())
    for options in ({}, *({"schedule": "random", "seed": seed} for seed in seeds)):
        with pytest.raises(Deadlock):
            ran(kernel, 1, threads, **options)
