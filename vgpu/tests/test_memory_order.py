"""Atomics of every order and scope, fences, and clocks; blocks on two worker threads that talk through memory."""

import itertools
import re

import numpy as np
import pytest

from vgpu.runtime import lanes

HOPPER = {"arch": "compute_90"}


@pytest.mark.parametrize("scope", ["block", "device", "system"])
def test_atomic_ref_in_every_order(engine, scope):
    kernel = engine.c(f"""
        #include <cuda/atomic>
        extern "C" __global__ void orders(int* cell, int* out) {{
            cuda::atomic_ref<int, cuda::thread_scope_{scope}> a(*cell);
            int k = 0;
            a.store(1, cuda::memory_order_relaxed);
            a.store(2, cuda::memory_order_release);
            a.store(3, cuda::memory_order_seq_cst);
            out[k++] = a.load(cuda::memory_order_relaxed);
            out[k++] = a.load(cuda::memory_order_acquire);
            out[k++] = a.load(cuda::memory_order_seq_cst);
            out[k++] = a.fetch_add(10, cuda::memory_order_relaxed);
            out[k++] = a.fetch_sub(1, cuda::memory_order_acq_rel);
            out[k++] = a.fetch_or(16, cuda::memory_order_release);
            out[k++] = a.fetch_and(20, cuda::memory_order_acquire);
            out[k++] = a.fetch_xor(7, cuda::memory_order_seq_cst);
            out[k++] = a.fetch_max(40, cuda::memory_order_acq_rel);
            out[k++] = a.fetch_min(9, cuda::memory_order_relaxed);
            int expected = 9;
            out[k++] = a.compare_exchange_strong(expected, 50, cuda::memory_order_acq_rel, cuda::memory_order_acquire);
            out[k++] = a.compare_exchange_strong(expected, 60, cuda::memory_order_seq_cst);
            out[k++] = expected;
            out[k++] = a.exchange(70, cuda::memory_order_acq_rel);
            cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_{scope});
            cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_{scope});
            out[k++] = a.load();
        }}""")
    out = np.zeros(15, np.int32)
    kernel(1, 1, np.zeros(1, np.int32), out)
    assert out.tolist() == [3, 3, 3, 3, 13, 12, 28, 20, 19, 40, 1, 0, 50, 50, 70]


def test_standard_atomics_in_shared_memory(engine):
    kernel = engine.c("""
        #include <cuda/std/atomic>
        extern "C" __global__ void count(int* out) {
            __shared__ int cell;
            if (threadIdx.x == 0) cell = 0;
            __syncthreads();
            cuda::std::atomic_ref<int> a(cell);
            a.fetch_add(threadIdx.x, cuda::std::memory_order_relaxed);
            __syncthreads();
            out[threadIdx.x] = a.load(cuda::std::memory_order_acquire);
        }""")
    out = np.zeros(96, np.int32)
    kernel(1, 96, out)
    assert out.tolist() == [96 * 95 // 2] * 96


ORDERS = ("relaxed", "acquire", "release", "acq_rel")
SCOPES = ("cta", "cluster", "gpu", "sys")
ACCESSES = [
    *(f"ld.{order}.{scope}.global.u32" for order in ("acquire", "relaxed") for scope in SCOPES),
    "ld.volatile.u32", "ld.weak.global.u32", "ld.mmio.relaxed.sys.global.u32", "ld.global.nc.L1::no_allocate.u32",
]  # fmt: skip
WRITES = [
    *(f"st.{order}.{scope}.global.u32" for order in ("release", "relaxed") for scope in SCOPES),
    "st.volatile.u32", "st.weak.global.u32", "st.mmio.relaxed.sys.global.u32",
]  # fmt: skip
FENCES = [
    *(f"fence.{order}.{scope}" for order in ("acq_rel", "sc") for scope in SCOPES),
    "membar.cta", "membar.gl", "membar.sys", "fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.global",
    "fence.proxy.async.shared::cta", "fence.mbarrier_init.release.cluster",
    "fence.proxy.tensormap::generic.release.gpu",
]  # fmt: skip


def test_accesses_of_every_order_and_scope(engine):
    loads = "".join(f'asm volatile("{x} %0, [%1];" : "=r"(r) : "l"(p)); out[k++] = r;\n' for x in ACCESSES)
    stores = "".join(
        f'asm volatile("{x} [%0], %1;" :: "l"(p), "r"({100 + i})); out[k++] = *(volatile int*)p;\n'
        for i, x in enumerate(WRITES)
    )
    atomics = ""
    for order, scope in itertools.product(ORDERS, SCOPES):
        weaker = order if order in ("relaxed", "release") else "relaxed"  # red has no acquire
        atomics += f'asm volatile("atom.{order}.{scope}.global.add.u32 %0, [%1], 1;" : "=r"(r) : "l"(p)); out[k++] = r;'
        atomics += f'asm volatile("red.{weaker}.{scope}.global.add.u32 [%0], 1;" :: "l"(p));'
    fences = "".join(f'asm volatile("{x};");\n' for x in FENCES)
    kernel = engine.c(
        f"""
        extern "C" __global__ void all(int* p, int* out) {{
            int k = 0, r;
            {loads}{stores}{fences}
            *(volatile int*)p = 0;
            {atomics}
        }}""",
        **HOPPER,
    )
    out = np.zeros(len(ACCESSES) + len(WRITES) + 16, np.int32)
    kernel(1, 1, np.array([7], np.int32), out)
    written = [100 + i for i in range(len(WRITES))]
    assert out.tolist() == [7] * len(ACCESSES) + written + list(range(0, 32, 2))


def test_clocks_run_forwards(engine):
    kernel = engine.c(
        """
        extern "C" __global__ void clocks(long long* out) {
            unsigned long long t0, t1;
            asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
            long long c0 = clock64();
            int k0 = clock();
            __nanosleep(100);
            int k1 = clock();
            long long c1 = clock64();
            asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
            out[0] = t1 - t0; out[1] = c1 - c0; out[2] = k1 - k0;
        }""",
        **HOPPER,
    )
    out = np.zeros(3, np.int64)
    kernel(1, 1, out)
    assert (out > 0).all()


def test_release_and_acquire_between_blocks_on_two_threads(compiled):
    """Two blocks hand a message to and fro; each sees all that the other wrote before it raised its flag."""
    kernel = compiled.c("""
        #include <cuda/atomic>
        extern "C" __global__ void table_tennis(int* message, int* flags, int* wrong, int rounds) {
            int me = blockIdx.x, t = threadIdx.x;
            cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[32 * me]), other(flags[32 * (1 - me)]);
            for (int i = 1; i <= rounds; ++i) {
                if (me == 1) {
                    if (t == 0) while (other.load(cuda::memory_order_acquire) < i) { }
                    __syncthreads();
                    if (message[t] != i * 1000 + t) atomicAdd(wrong, 1);
                }
                if (me == 0) message[t] = i * 1000 + t; else message[64 + t] = message[t] * 2;
                __syncthreads();
                if (t == 0) mine.store(i, cuda::memory_order_release);
                if (me == 0) {
                    if (t == 0) while (other.load(cuda::memory_order_acquire) < i) { }
                    __syncthreads();
                    if (message[64 + t] != 2 * (i * 1000 + t)) atomicAdd(wrong, 1);
                }
            }
        }""")
    wrong, flags = np.zeros(1, np.int32), np.zeros(64, np.int32)
    kernel(2, 64, np.zeros(128, np.int32), flags, wrong, 100, threads=2)
    assert wrong[0] == 0
    assert flags[0] == flags[32] == 100


def test_sequentially_consistent_fences_between_blocks(compiled):
    """Each block raises its flag and then looks at the other's: with fence.sc between, one of them sees it."""
    kernel = compiled.c(
        """
        extern "C" __global__ void both(volatile int* flags, int* arrived, int* seen, int rounds) {
            int me = blockIdx.x;
            for (int i = 0; i < rounds; ++i) {
                atomicAdd(&arrived[i], 1);
                while (atomicAdd(&arrived[i], 0) < 2) { }
                flags[64 * i + 32 * me] = 1;
                asm volatile("fence.sc.gpu;" ::: "memory");
                seen[2 * i + me] = flags[64 * i + 32 * (1 - me)];
            }
        }""",
        **HOPPER,
    )
    rounds = 300
    flags, seen = np.zeros(64 * rounds, np.int32), np.zeros((rounds, 2), np.int32)
    kernel(2, 1, flags, np.zeros(rounds, np.int32), seen, rounds, threads=2)
    assert seen.any(axis=1).all()


def test_atomics_order_the_accesses_around_them():
    """On x86 no run can show it: there, atomics of every order do."""
    text = lanes.source("")
    atomics = re.findall(r"^.*(?:atomicrmw|cmpxchg) .*$", text, re.MULTILINE)
    assert len(atomics) > 30
    assert [line for line in atomics if " acq_rel" not in line] == []
