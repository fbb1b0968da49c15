"""`mbarrier` and `cuda::barrier` on both engines: phases, states, parities, dropped arrivals, errors and deadlocks."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.errors import BarrierError, Deadlock, Misaligned, OutOfBounds
from vgpu.tools.steps.arrivals import BarrierEvent, BarrierPhases, BarrierState, CopyGroups, GroupEvent

BARRIER = """
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
"""
# Thin wrappers, so that the kernels below read like the instructions they test.
ASM = """
typedef unsigned long long u64;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(u64* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(b)), "r"(n)); }
__device__ void inval(u64* b) { asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(at(b)) : "memory"); }
__device__ u64 arrive(u64* b) {
    u64 s; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(s) : "r"(at(b)) : "memory"); return s;
}
__device__ u64 arrive_many(u64* b, int n) {
    u64 s; asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(s) : "r"(at(b)), "r"(n)); return s;
}
__device__ bool over(u64* b, u64 s) {
    int r; asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                        : "=r"(r) : "r"(at(b)), "l"(s) : "memory"); return r;
}
__device__ bool passed(u64* b, int parity) {
    int r; asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                        : "=r"(r) : "r"(at(b)), "r"(parity) : "memory"); return r;
}
__device__ void wait(u64* b, int parity) { while (!passed(b, parity)) { } }
__device__ int pending(u64 s) {
    int n; asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(s)); return n;
}
"""


def floats(*shape) -> np.ndarray:
    return np.random.default_rng(4).standard_normal(shape, np.float32)


def in_asm(engine):
    """Makes kernels on the wrappers above."""
    return lambda source: engine.c(ASM + source, arch="compute_90")


@pytest.fixture(params=["compute_80", "compute_90"])
def kernel_with_barrier(engine, request):
    """A kernel that uses `barrier`, for GPUs with and without the instructions of Hopper."""
    return lambda source: engine.c(BARRIER + source, arch=request.param)


def test_phases_and_parities_step_by_step(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void steps(int* out) {
            __shared__ u64 b;
            int k = 0;
            init(&b, 2);
            out[k++] = passed(&b, 0);  // phase 0 is not over
            out[k++] = passed(&b, 1);  // the one before it is
            u64 first = arrive(&b);
            out[k++] = pending(first);
            out[k++] = over(&b, first);
            u64 second = arrive(&b);
            out[k++] = pending(second);
            out[k++] = over(&b, first);
            out[k++] = passed(&b, 0);
            out[k++] = passed(&b, 1);  // phase 1 is not
            u64 third = arrive_many(&b, 2);
            out[k++] = pending(third);
            out[k++] = over(&b, third);
            out[k++] = passed(&b, 1);
            out[k++] = passed(&b, 0);  // now in phase 2, of parity 0
        }""")
    out = np.full(12, -1, np.int32)
    kernel(1, 1, out)
    assert out.tolist() == [0, 1, 2, 0, 1, 1, 1, 0, 2, 1, 1, 0]


def test_a_dropped_arrival_lowers_the_next_phases(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void drop(int* out) {
            __shared__ u64 b;
            init(&b, 3);
            u64 s;
            asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(s) : "r"(at(&b)) : "memory");
            out[0] = pending(s);
            arrive(&b);
            out[1] = over(&b, s);
            arrive(&b);
            out[2] = over(&b, s);
            s = arrive(&b);
            out[3] = pending(s);
            arrive(&b);
            out[4] = over(&b, s);
        }""")
    out = np.full(5, -1, np.int32)
    kernel(1, 1, out)
    assert out.tolist() == [3, 0, 1, 2, 1]


def test_expected_bytes_hold_the_phase(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void bytes(int* out) {
            __shared__ u64 b;
            init(&b, 1);
            u64 s;
            asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 48;" :: "r"(at(&b)) : "memory");
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 16;" : "=l"(s) : "r"(at(&b)) : "memory");
            out[0] = over(&b, s);
            asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 40;" :: "r"(at(&b)) : "memory");
            out[1] = over(&b, s);
            asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 24;" :: "r"(at(&b)) : "memory");
            out[2] = over(&b, s);
            asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 8;" :: "r"(at(&b)) : "memory");
            s = arrive(&b);  // bytes may come before they are announced
            out[3] = over(&b, s);
            asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 8;" :: "r"(at(&b)) : "memory");
            out[4] = over(&b, s);
        }""")
    out = np.full(5, -1, np.int32)
    kernel(1, 1, out)
    assert out.tolist() == [0, 0, 1, 0, 1]


def test_all_lanes_arrive_in_turn(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void turns(int* out) {
            __shared__ u64 b[2];
            if (threadIdx.x == 0) { init(&b[0], 16); init(&b[1], 16); }
            __syncthreads();
            u64 s = arrive(&b[threadIdx.x & 1]);
            out[threadIdx.x] = pending(s);
            wait(&b[threadIdx.x & 1], 0);
            out[32 + threadIdx.x] = over(&b[threadIdx.x & 1], s);
        }""")
    out = np.full(64, -1, np.int32)
    kernel(1, 32, out)
    assert sorted(out[:32:2].tolist()) == sorted(out[1:32:2].tolist()) == list(range(1, 17))
    assert out[32:].tolist() == [1] * 32


def test_block_barrier_with_tokens_over_many_phases(kernel_with_barrier):
    kernel = kernel_with_barrier("""
        extern "C" __global__ void shift(const float* in, float* out, int rounds) {
            __shared__ barrier bar;
            __shared__ float line[96];
            int t = threadIdx.x;
            if (t == 0) init(&bar, blockDim.x);
            __syncthreads();
            float v = in[t];
            for (int i = 0; i < rounds; ++i) {
                line[t] = v;
                auto token = bar.arrive();
                bar.wait(cuda::std::move(token));
                v = line[(t + 1) % 96];
                bar.arrive_and_wait();
            }
            out[t] = v;
        }""")
    data, out = floats(96), np.zeros(96, np.float32)
    kernel(1, 96, data, out, 7)
    assert np.array_equal(out, np.roll(data, -7))


def test_copies_that_arrive_at_a_barrier(kernel_with_barrier):
    kernel = kernel_with_barrier("""
        extern "C" __global__ void fetch(const float* in, float* out) {
            __shared__ barrier bar;
            __shared__ float tile[128];
            int t = threadIdx.x;
            if (t == 0) init(&bar, blockDim.x);
            __syncthreads();
            cuda::memcpy_async(&tile[t], &in[t], sizeof(float), bar);
            out[t] = tile[t];
            bar.arrive_and_wait();
            out[128 + t] = tile[127 - t];
        }""")
    data, out = floats(128), np.zeros(256, np.float32)
    kernel(1, 128, data, out)
    assert (out[:128].view(np.uint32) == 0xFFFFFFFF).all()
    assert np.array_equal(out[128:], data[::-1])


def test_copies_with_noinc_are_the_arrivals(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void noinc(const float* in, float* out) {
            __shared__ u64 b;
            __shared__ float tile[64];
            int t = threadIdx.x;
            if (t == 0) init(&b, 64);
            __syncthreads();
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(&tile[t])), "l"(in + t) : "memory");
            asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(&b)) : "memory");
            wait(&b, 0);
            out[t] = tile[63 - t];
        }""")
    data, out = floats(64), np.zeros(64, np.float32)
    kernel(1, 64, data, out)
    assert np.array_equal(out, data[::-1])


PRODUCER_CONSUMER = """
    #define STAGES 3
    extern "C" __global__ void flow(const float* in, float* out, int tiles) {
        __shared__ u64 full[STAGES], empty[STAGES];
        __shared__ float ring[STAGES][32];
        int lane = threadIdx.x % 32;
        bool producer = threadIdx.x < 32;
        if (threadIdx.x == 0)
            for (int s = 0; s < STAGES; ++s) { init(&full[s], 32); init(&empty[s], 32 * CONSUMERS); }
        __syncthreads();
        if (producer) {
            for (int i = 0; i < tiles; ++i) {
                int s = i % STAGES;
                if (i >= STAGES) wait(&empty[s], (i / STAGES - 1) & 1);
                ring[s][lane] = in[32 * i + lane] * 2;
                arrive(&full[s]);
            }
        } else {
            float sum = 0;
            for (int i = 0; i < tiles; ++i) {
                int s = i % STAGES;
                wait(&full[s], (i / STAGES) & 1);
                sum += ring[s][31 - lane];
                arrive(&empty[s]);
            }
            out[threadIdx.x - 32] = sum;
        }
    }"""


@pytest.mark.parametrize("consumers", [1, 3])
@pytest.mark.parametrize("tiles", [1, 3, 10])
def test_producer_and_consumer_warps(engine, consumers, tiles):
    kernel = in_asm(engine)(PRODUCER_CONSUMER.replace("CONSUMERS", str(consumers)))
    data = np.random.default_rng(tiles).integers(-99, 99, (tiles, 32)).astype(np.float32)
    out = np.zeros((consumers, 32), np.float32)
    kernel(1, 32 * (1 + consumers), data, out, tiles)
    assert np.array_equal(out, np.broadcast_to(2 * data.sum(0)[::-1], (consumers, 32)))


def test_producer_and_consumer_lanes_of_one_warp(engine):
    """Lanes that wait must let the lane go on that they wait for."""
    kernel = in_asm(engine)("""
        extern "C" __global__ void within(const float* in, float* out, int n) {
            __shared__ u64 full, empty;
            __shared__ float slot;
            if (threadIdx.x == 0) { init(&full, 1); init(&empty, 31); }
            __syncwarp();
            if (threadIdx.x != 0) {
                float sum = 0;
                for (int i = 0; i < n; ++i) { wait(&full, i & 1); sum += slot; arrive(&empty); }
                out[threadIdx.x] = sum;
            } else {
                for (int i = 0; i < n; ++i) {
                    if (i) wait(&empty, (i - 1) & 1);
                    slot = in[i];
                    arrive(&full);
                }
            }
        }""")
    data, out = np.arange(9, dtype=np.float32), np.zeros(32, np.float32)
    kernel(1, 32, data, out, 9)
    assert out.tolist() == [0] + [36.0] * 31


def test_the_primitives_of_cuda_awbarrier(engine):
    kernel = engine.c("""
        #include <cuda_awbarrier_primitives.h>
        extern "C" __global__ void plain(const float* in, float* out) {
            __shared__ __mbarrier_t bar;
            __shared__ float line[64];
            int t = threadIdx.x;
            if (t == 0) __mbarrier_init(&bar, 64);
            __syncthreads();
            line[t] = in[t];
            __mbarrier_token_t token = __mbarrier_arrive(&bar);
            while (!__mbarrier_test_wait(&bar, token)) { }
            out[t] = line[63 - t];
            __syncthreads();
            if (t == 0) __mbarrier_inval(&bar);
        }""")
    data, out = floats(64), np.zeros(64, np.float32)
    kernel(1, 64, data, out)
    assert np.array_equal(out, data[::-1])


def test_pipeline_shared_by_a_block(engine):
    kernel = engine.c("""
        #include <cuda/pipeline>
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        #pragma nv_diag_suppress static_var_with_dynamic_init
        extern "C" __global__ void staged(const float* in, float* out, int tiles) {
            __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
            __shared__ alignas(16) float tile[2][64];
            auto block = cg::this_thread_block();
            auto pipe = cuda::make_pipeline(block, &state);
            float sum = 0;
            for (int i = 0, next = 0; i < tiles; ++i) {
                for (; next < tiles && next < i + 2; ++next) {
                    pipe.producer_acquire();
                    cuda::memcpy_async(block, tile[next % 2], in + 64 * next, cuda::aligned_size_t<16>(256), pipe);
                    pipe.producer_commit();
                }
                pipe.consumer_wait();
                sum += tile[i % 2][63 - threadIdx.x];
                pipe.consumer_release();
            }
            out[threadIdx.x] = sum;
        }""")
    data = np.random.default_rng(5).integers(-9, 9, (5, 64)).astype(np.float32)
    out = np.zeros(64, np.float32)
    kernel(1, 64, data, out, 5)
    assert np.array_equal(out, data.sum(0)[::-1])


def test_barriers_start_anew_in_every_block(engine):
    kernel = in_asm(engine)(
        PRODUCER_CONSUMER.replace("CONSUMERS", "1").replace("in[32 * i", "in[32 * i + 32 * blockIdx.x")
    )
    data = np.random.default_rng(6).integers(-9, 9, (5, 32)).astype(np.float32)
    out = np.zeros(32, np.float32)
    kernel(2, 64, data, out, 4)
    ends = [2 * data[start : start + 4].sum(0)[::-1] for start in (0, 1)]
    assert any(np.array_equal(out, end) for end in ends)


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("statements", "error", "words", "instruction"),
    [
        ("arrive(&b[0]);", BarrierError, "not initialised", "mbarrier.arrive.shared.b64"),
        ("init(&b[0], 1); b[0] = 0; arrive(&b[0]);", BarrierError, "not initialised", "mbarrier.arrive.shared.b64"),
        ("init(&b[0], 1); inval(&b[0]); passed(b, 0);", BarrierError, "not initialised", "mbarrier.try_wait"),
        ("init(&b[0], n - 9);", BarrierError, " 0[ ;]", "mbarrier.init"),
        ("init(&b[0], 2); arrive_many(&b[0], n);", BarrierError, "waits for 2", "mbarrier.arrive.shared::cta"),
        ("init(&b[n], 2);", OutOfBounds, "shared memory", "mbarrier.init"),
        ("init((u64*)((char*)b + 4), 2);", Misaligned, "multiple of 8", "mbarrier.init"),
    ],
)
def test_misuse_names_the_instruction(engine, statements, error, words, instruction):
    kernel = in_asm(engine)(f"""
        extern "C" __global__ void wrong(int* out, int n) {{
            __shared__ u64 b[2];
            {statements}
            out[threadIdx.x] = 1;
        }}""")
    with pytest.raises(error, match=words) as caught:
        kernel(1, 1, np.zeros(1, np.int32), 9)
    first = 1 + ASM[: ASM.index(instruction)].count("\n")
    assert caught.value.line in (first, first + 1)  # the compiler names the last line of a statement


def test_a_missing_arrival_is_a_deadlock(kernel_with_barrier):
    kernel = kernel_with_barrier("""
        extern "C" __global__ void missing(int* out) {
            __shared__ barrier bar;
            if (threadIdx.x == 0) init(&bar, blockDim.x);
            __syncthreads();
            if (threadIdx.x != 40) bar.arrive_and_wait();
            out[threadIdx.x] = 1;
        }""")
    with pytest.raises(Deadlock, match="1 of 64 arrivals") as caught:
        kernel(1, 64, np.zeros(64, np.int32))
    assert caught.value.line == 10


STUCK = {
    "a byte is missing": (
        """
        init(&b, 1);
        u64 s;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 64;" : "=l"(s) : "r"(at(&b)) : "memory");
        wait(&b, 0);""",
        1,
        "64 bytes",
    ),
    "one warp at a barrier, one at an mbarrier": (
        """
        if (threadIdx.x == 0) init(&b, 64);
        __syncthreads();
        if (threadIdx.x < 32) { arrive(&b); wait(&b, 0); }
        __syncthreads();
        arrive(&b);""",
        64,
        "32 of 64 arrivals",
    ),
}


@pytest.mark.parametrize(("body", "threads", "words"), STUCK.values(), ids=STUCK)
def test_waiting_for_what_cannot_come_is_a_deadlock(engine, body, threads, words):
    kernel = in_asm(engine)(f"""
        extern "C" __global__ void stuck(int* out) {{
            __shared__ u64 b;
            {body}
            out[threadIdx.x] = 1;
        }}""")
    with pytest.raises(Deadlock, match=words):
        kernel(1, threads, np.zeros(threads, np.int32))


def test_asking_now_and_then_is_no_deadlock(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void patient(int* out) {
            __shared__ u64 b;
            if (threadIdx.x == 0) init(&b, 2);
            __syncthreads();
            if (threadIdx.x == 0) {
                int asked = 0;
                while (!passed(&b, 0) && asked < 100) ++asked;
                out[0] = asked;
                arrive_many(&b, 2);
            } else if (threadIdx.x == 32) {
                wait(&b, 0);
                out[1] = 7;
            }
        }""")
    out = np.zeros(2, np.int32)
    kernel(1, 64, out)
    assert out.tolist() == [100, 7]


def test_phases_and_groups_read_in_words():
    event = BarrierEvent("arrive", 2, 7, {"b": BarrierState(1, 3, 64, 4)}, ("b",))
    assert repr(BarrierPhases("k", ("b",), (event,))) == (
        "k: b\n  warp 2, line 7, arrive: b phase 1 lacks 3 of 4 arrivals, 64 bytes"
    )
    groups = CopyGroups("k", 5, (GroupEvent("copy", 3, 2, 0), GroupEvent("wait", 4, 1, 2, (0,))), ())
    assert repr(groups) == (
        "k, thread 5\n  line 3: copies to group 0; landed: []\n  line 4: waits, all but 1; landed: [0]"
    )
