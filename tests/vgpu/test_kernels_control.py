"""Kernels whose threads go different ways, on the compiled engine and on the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest

RANDOM = np.random.default_rng(5)


def ints(n, low=0, high=100) -> np.ndarray:
    return np.random.default_rng(5).integers(low, high, n, dtype=np.int32)


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def test_loops_of_different_length_with_early_return(engine):
    kernel = engine.c("""
        extern "C" __global__ void collatz(const int* in, int* steps, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            int v = in[i], k = 0;
            if (v < 1) { steps[i] = -1; return; }
            while (v != 1) { v = v % 2 ? 3 * v + 1 : v / 2; ++k; if (k == 30) return; }
            steps[i] = k;
        }""")
    data = ints(100, -3, 60)
    out = np.full(100, -7, np.int32)
    kernel(2, 64, data, out, 100)
    expected = [-1 if v < 1 else collatz(int(v)) for v in data]
    assert out.tolist() == [-7 if steps >= 30 else steps for steps in expected]


def test_nested_loops_with_break_and_continue(engine):
    kernel = engine.c("""
        extern "C" __global__ void nest(const int* in, int* out) {
            int v = in[threadIdx.x], sum = 0;
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
            out[threadIdx.x] = sum;
        }""")

    def nest(thread, v):
        total = 0
        for i in range(v):
            if i % 3 == thread % 3:
                continue
            j = 0
            jumped = False
            while j <= i:
                if (i + j) % 7 == 5:
                    total += 100
                    break
                if j == 4:
                    jumped = True
                    break
                total += j
                j += 1
            if not jumped and total > 900:
                break
            total += 1
        return total

    data, out = ints(45, 0, 40), np.zeros(45, np.int32)
    kernel(1, 45, data, out)
    assert out.tolist() == [nest(t, int(v)) for t, v in enumerate(data)]


def test_switch_with_fallthrough(engine):
    cases = "\n".join(f"case {k * k}: r += {k};" + (" break;" if k % 3 else "") for k in range(12))
    dense = "\n".join(f"case {k}: r ^= {k * 77 + 1}; break;" for k in range(20))
    kernel = engine.c(f"""
        extern "C" __global__ void choose(const int* in, int* out) {{
            int r = 0;
            switch (in[threadIdx.x]) {{ {cases} default: r -= 1; }}
            switch (in[threadIdx.x] % 25) {{ {dense} }}
            out[threadIdx.x] = r;
        }}""")

    def choose(v):
        r, falling = 0, False
        for k in range(12):
            if falling or v == k * k:
                r, falling = r + k, k % 3 == 0
                if not falling:
                    break
        else:
            r -= 1
        return r ^ (v % 25 * 77 + 1) if v % 25 < 20 else r

    data, out = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    kernel(1, 128, data, out)
    assert out.tolist() == [choose(v) for v in range(128)]


def test_short_circuits_protect_what_follows(engine):
    kernel = engine.c("""
        extern "C" __global__ void guarded(const int* in, int n, int* out) {
            int i = threadIdx.x;
            bool ok = (i < n && in[i] > 50) || (i >= n && i - n < n && in[i - n] < 10);
            out[i] = ok ? (i < n ? in[i] : -in[i - n]) : 0;
        }""")
    data, out = ints(20), np.zeros(64, np.int32)
    kernel(1, 64, data, 20, out)
    expected = [int(v) if v > 50 else 0 for v in data] + [-int(v) if v < 10 else 0 for v in data] + [0] * 24
    assert out.tolist() == expected


def test_lanes_of_one_warp_share_a_spin_lock(engine):
    kernel = engine.c("""
        extern "C" __global__ void count(int* lock, volatile int* total) {
            while (atomicCAS(lock, 0, 1) != 0) { }
            *total = *total + 1;
            __threadfence();
            atomicExch(lock, 0);
        }""")
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    kernel(1, 8, lock, total)
    assert (lock[0], total[0]) == (0, 8)


def test_lock_inside_a_loop_with_a_flag(engine):
    kernel = engine.c("""
        extern "C" __global__ void count(int* lock, int* total) {
            bool done = false;
            while (!done) {
                if (atomicCAS(lock, 0, 1) == 0) {
                    atomicAdd(total, 1);
                    atomicExch(lock, 0);
                    done = true;
                }
            }
        }""")
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    kernel(2, 48, lock, total)
    assert total[0] == 96


def test_one_warp_waits_for_another(engine):
    kernel = engine.c("""
        extern "C" __global__ void pass(int* out) {
            __shared__ volatile int flag, value;
            if (threadIdx.x == 0) flag = 0;
            __syncthreads();
            if (threadIdx.x == 32) { value = 42; __threadfence_block(); flag = 1; }
            if (threadIdx.x < 32) { while (flag == 0) { } out[threadIdx.x] = value; }
        }""")
    out = np.zeros(32, np.int32)
    kernel(1, 64, out)
    assert set(out) == {42}


def test_barriers_in_a_loop_some_threads_have_left(engine):
    """Threads that have returned do not count at a barrier."""
    kernel = engine.c("""
        extern "C" __global__ void halve(int* data, int n) {
            __shared__ int s[128];
            int i = threadIdx.x;
            if (i >= n) return;
            s[i] = data[i];
            __syncthreads();
            int left = i > 0 ? s[i - 1] : 0;
            __syncthreads();
            data[i] = left + s[i];
        }""")
    data = ints(128)
    expected = data.copy()
    expected[1:77] += data[:76]
    kernel(1, 128, data, 77)
    np.testing.assert_array_equal(data, expected)


def test_named_barriers(engine):
    kernel = engine.c("""
        extern "C" __global__ void halves(int* out) {
            __shared__ int s[128];
            int i = threadIdx.x, half = i / 64;
            s[i] = i;
            if (half) asm volatile("bar.sync 1, 64;" ::: "memory");
            else asm volatile("bar.sync 2, 64;" ::: "memory");
            out[i] = s[half * 64 + (i + 33) % 64];
        }""")
    out = np.zeros(128, np.int32)
    kernel(1, 128, out)
    i = np.arange(128)
    np.testing.assert_array_equal(out, i // 64 * 64 + (i + 33) % 64)


def test_device_functions_diverge_and_meet_again(engine):
    kernel = engine.c("""
        __device__ __noinline__ int power(int base, int n) { int r = 1; for (; n > 0; --n) r *= base; return r; }
        __device__ __noinline__ int twice(int v) { return v % 2 ? power(v % 5, 3) : power(2, v % 9) + 1; }
        template <int N> __device__ int offset(int v) { return v + N; }
        template <typename T> __device__ T larger(T a, T b) { return a > b ? a : b; }
        extern "C" __global__ void calls(const int* in, int* out) {
            int v = in[threadIdx.x];
            int r = v > 30 ? twice(v) : v > 10 ? twice(v + 1) - 1 : -power(v, 2);
            out[threadIdx.x] = larger(offset<7>(r), offset<-3>(v));
        }""")
    power = lambda base, n: base**n
    twice = lambda v: power(v % 5, 3) if v % 2 else power(2, v % 9) + 1
    data, out = ints(96, 0, 60), np.zeros(96, np.int32)
    kernel(1, 96, data, out)
    results = [twice(v) if v > 30 else twice(v + 1) - 1 if v > 10 else -power(v, 2) for v in data.tolist()]
    assert out.tolist() == [max(r + 7, v - 3) for r, v in zip(results, data.tolist(), strict=True)]


def test_predicates_select_without_branching(engine):
    kernel = engine.c("""
        extern "C" __global__ void clampAll(const float* in, float* out, int n) {
            for (int i = threadIdx.x; i < n; i += 32) {
                float v = in[i];
                v = v < -1 ? -1 : v > 1 ? 1 : v;
                if (i % 5 == 0) v = -v;
                out[i] = v;
            }
        }""")
    data, out = np.linspace(-2, 2, 101).astype(np.float32), np.zeros(101, np.float32)
    kernel(1, 32, data, out, 101)
    np.testing.assert_array_equal(out, np.clip(data, -1, 1) * np.where(np.arange(101) % 5 == 0, -1, 1))


@pytest.mark.parametrize("block", [1, 31, 32, 33, 257])
def test_partial_warps(engine, block):
    kernel = engine.c("""
        extern "C" __global__ void sum(const int* in, int* out) {
            __shared__ int total;
            if (threadIdx.x == 0) total = 0;
            __syncthreads();
            atomicAdd(&total, in[threadIdx.x]);
            __syncthreads();
            out[threadIdx.x] = total;
        }""")
    data, out = ints(block), np.zeros(block + 1, np.int32)
    kernel(1, block, data, out)
    assert out.tolist() == [data.sum()] * block + [0]


def test_exit_ends_a_thread_wherever_it_stands(engine):
    kernel = engine.c("""extern "C" __global__ void k(int* out) {
        out[threadIdx.x] = 1;
        if (threadIdx.x % 3 == 0) asm volatile("exit;");
        out[threadIdx.x] = 2;
    }""")
    out = np.zeros(64, np.int32)
    kernel(1, 64, out)
    np.testing.assert_array_equal(out, np.where(np.arange(64) % 3 == 0, 1, 2))


def test_pointers_say_which_memory_they_point_to(engine):
    kernel = engine.c("""__device__ int anywhere; __constant__ int fixed;
    extern "C" __global__ void k(int* out) {
        __shared__ int tile[32];
        int own[2] = {out[0], 3};
        void* all[4] = {out, tile, &own[out[1]], (void*)&anywhere};
        const void* p = all[threadIdx.x & 3];
        tile[threadIdx.x] = fixed;
        out[threadIdx.x] = __isGlobal(p) + 2 * __isShared(p) + 4 * __isLocal(p) + 8 * __isConstant(p);
    }""")
    out = np.zeros(32, np.int32)
    kernel(1, 32, out)
    np.testing.assert_array_equal(out, np.tile([1, 2, 4, 1], 8))
