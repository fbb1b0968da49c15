"""Mistakes with asynchronous copies, mbarriers, grid barriers, calls and matrices, each with its correct twin."""

from __future__ import annotations

import numpy as np

from vgpu.tests.sanitize.gallery_c import Case, f4, floats, i4

CASES: list[Case] = []


def case(name, kind, source, block, args, grid=1, gpu=None, cooperative=False, **options):
    def three(size):
        return size if isinstance(size, tuple) else (size,)

    gpu = gpu or ("H100" if "try_wait" in source else None)  # older ones have no such instruction
    CASES.append(Case(name, kind, source, three(grid), three(block), args, options, gpu=gpu, cooperative=cooperative))


PIPELINE = "#include <cuda_pipeline.h>\n"
MBARRIER = """
typedef unsigned long long u64;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(u64* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(b)), "r"(n)); }
__device__ void arrive(u64* b) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(at(b)) : "memory");
}
__device__ bool passed(u64* b, int parity) {
    int r; asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                        : "=r"(r) : "r"(at(b)), "r"(parity) : "memory"); return r;
}
__device__ void wait(u64* b, int parity) { while (!passed(b, parity)) { } }
__device__ void expect(u64* b, int n) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" :: "r"(at(b)), "r"(n) : "memory");
}
#define BULK(to, from, n, bar) asm volatile( \\
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \\
    :: "r"(at(to)), "l"(from), "r"(n), "r"(at(bar)) : "memory")
"""


def one_to_one(n):
    return lambda wrong: (floats(n), np.zeros(n, f4))


case("no_wait_for_the_copy", "copy_pending", PIPELINE + """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &a[t], 4); //!
    __pipeline_commit();
#ifndef WRONG
    __pipeline_wait_prior(0);
#endif
    __syncthreads();
    out[t] = s[63 - t]; //!
}""", 64, one_to_one(64))  # fmt: skip

case("no_commit_before_the_wait", "copy_pending", PIPELINE + """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &a[t], 4); //!
#ifndef WRONG
    __pipeline_commit();
#endif
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t]; //!
}""", 64, one_to_one(64))  # fmt: skip

DOUBLE = (
    PIPELINE
    + """
extern "C" __global__ void k(const float* a, float* out, int tiles) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&s[0][t], &a[t], 4); FIRST
    __pipeline_commit();
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles) {
            __pipeline_memcpy_async(&s[(i + 1) % 2][t], &a[64 * (i + 1) + t], 4); NEXT
        }
        __pipeline_commit();
        WAIT
        __syncthreads();
        sum += s[i % 2][63 - t]; //!
        END
    }
    out[t] = sum;
}"""
)


def double(first="", following="", wait="__pipeline_wait_prior(1);", end="__syncthreads();"):
    words = {"FIRST": first, "NEXT": following, "WAIT": wait, "END": end}
    source = DOUBLE
    for word, text in words.items():
        source = source.replace(word, text)
    return source


case("wait_for_one_group_too_few", "copy_pending", double(
    "//!", "//!", "\n#ifdef WRONG\n__pipeline_wait_prior(2);\n#else\n__pipeline_wait_prior(1);\n#endif",
), 64, lambda wrong: (floats(256), np.zeros(64, f4), i4(4)))  # fmt: skip

case("no_barrier_before_the_next_stage", "race_read_write", double(
    "", "//!", end="\n#ifndef WRONG\n__syncthreads();\n#endif",
), 64, lambda wrong: (floats(256), np.zeros(64, f4), i4(4)))  # fmt: skip

case("ring_of_stages_one_too_short", "race_read_write", PIPELINE + """
#ifdef WRONG
#define STAGES 2
#else
#define STAGES 3
#endif
extern "C" __global__ void k(const float* a, float* out, int tiles) {
    __shared__ float ring[STAGES][64];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&ring[0][t], &a[t], 4);
    __pipeline_commit();
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles) __pipeline_memcpy_async(&ring[(i + 1) % STAGES][t], &a[64 * (i + 1) + t], 4); //!
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += ring[i % STAGES][63 - t]; //!
    }
    out[t] = sum;
}""", 64, lambda wrong: (floats(320), np.zeros(64, f4), i4(5)))  # fmt: skip

case("store_over_a_pending_copy", "copy_pending", PIPELINE + """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &a[t], 4); //!
    __pipeline_commit();
#ifndef WRONG
    __pipeline_wait_prior(0);
#endif
    if (a[t] < 9) s[t] = 0; //!
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[63 - t];
}""", 64, one_to_one(64))  # fmt: skip

case("mbarrier_without_init", "mbarrier", MBARRIER.replace('s, [%0]; }" ::', 's, [%0]; }" /* //! */ ::') + """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ u64 bar;
    __shared__ float s[64];
    int t = threadIdx.x;
#ifndef WRONG
    if (t == 0) init(&bar, 64);
#endif
    __syncthreads();
    s[t] = a[t];
    arrive(&bar);
    wait(&bar, 0);
    out[t] = s[63 - t];
}""", 64, one_to_one(64))  # fmt: skip

case("mbarrier_arrive_without_wait", "race_read_write", MBARRIER + """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ u64 bar;
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 64);
    __syncthreads();
    s[t] = a[t]; //!
    arrive(&bar);
#ifndef WRONG
    wait(&bar, 0);
#endif
    out[t] = s[63 - t]; //!
}""", 64, one_to_one(64))  # fmt: skip

case("room_given_back_before_the_read", "race_read_write", MBARRIER + """
extern "C" __global__ void k(const float* a, float* out, int n) {
    __shared__ u64 full, empty;
    __shared__ float slot[32];
    int t = threadIdx.x % 32;
    if (threadIdx.x == 0) { init(&full, 32); init(&empty, 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < n; ++i) {
            if (i) wait(&empty, (i - 1) & 1);
            slot[t] = a[32 * i + t]; //!
            arrive(&full);
        }
    } else {
        float sum = 0;
        for (int i = 0; i < n; ++i) {
            wait(&full, i & 1);
#ifdef WRONG
            arrive(&empty);
#endif
            sum += slot[31 - t]; //!
#ifndef WRONG
            arrive(&empty);
#endif
        }
        out[t] = sum;
    }
}""", 64, lambda wrong: (floats(128), np.zeros(32, f4), i4(4)))  # fmt: skip

case("bulk_copy_not_waited_for", "copy_pending", MBARRIER + """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ u64 bar;
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, 1);
        expect(&bar, 256);
        BULK(s, a, 256, &bar); //!
    }
    __syncthreads();
#ifndef WRONG
    wait(&bar, 0);
#endif
    out[t] = s[63 - t]; //!
}""", 64, one_to_one(64), gpu="H100")  # fmt: skip

case("bulk_copy_over_what_others_read", "race_read_write", MBARRIER + """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ u64 bar[3];
    int t = threadIdx.x;
    if (t < 3) init(&bar[t], 1);
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 3; ++i) {
        if (t == 0) {
            expect(&bar[i], 256);
            BULK(s, a + 64 * i, 256, &bar[i]); //!
        }
        wait(&bar[i], 0);
        sum += s[63 - t]; //!
#ifndef WRONG
        __syncthreads();
#endif
    }
    out[t] = sum;
}""", 64, lambda wrong: (floats(192), np.zeros(64, f4)), gpu="H100")  # fmt: skip

case("bulk_store_without_a_proxy_fence", "proxy_fence", MBARRIER + """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ alignas(16) float s[64];
    int t = threadIdx.x;
    s[63 - t] = a[t]; //!
#ifndef WRONG
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                     :: "l"(out), "r"(at(s)) : "memory"); //!
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}""", 64, one_to_one(64), gpu="H100")  # fmt: skip

case("bulk_store_not_waited_for", "store_pending", MBARRIER + """
extern "C" __global__ void k(const float* a, float* out) {
    __shared__ alignas(16) float s[64];
    int t = threadIdx.x;
    s[63 - t] = a[t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                     :: "l"(out), "r"(at(s)) : "memory"); //!
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#ifndef WRONG
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
    }
}""", 64, one_to_one(64), gpu="H100")  # fmt: skip

GRID = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
case("grid_sync_that_a_block_skips", "grid_barrier", GRID + """
extern "C" __global__ void k(const float* a, float* part, float* out) {
    auto grid = cg::this_grid();
    if (threadIdx.x == 0) part[blockIdx.x] = 2 * a[blockIdx.x];
#ifdef WRONG
    if (blockIdx.x == 2) return;
#endif
    grid.sync(); //!
    out[blockIdx.x] = part[(blockIdx.x + 1) % gridDim.x];
}""", 32, lambda wrong: (floats(4), np.zeros(4, f4), np.zeros(4, f4)), 4, cooperative=True)  # fmt: skip

case("block_barrier_for_a_grid_barrier", "race_read_write", GRID + """
extern "C" __global__ void k(const float* a, float* part, float* out) {
    auto grid = cg::this_grid();
    if (threadIdx.x == 0)
        part[blockIdx.x] = 2 * a[blockIdx.x]; //!
#ifdef WRONG
    __syncthreads();
#else
    grid.sync();
#endif
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[(blockIdx.x + 1) % gridDim.x]; //!
}""", 32, lambda wrong: (floats(4), np.zeros(4, f4), np.zeros(4, f4)), 4, cooperative=True,
     races_in_global=True)  # fmt: skip

case("function_pointer_that_is_null", "bad_call", """
typedef int (*F)(int);
__device__ int one(int v) { return v + 1; }
__device__ int two(int v) { return v + 2; }
__device__ F table[3] = {one, two, nullptr};
extern "C" __global__ void k(const int* which, int* out) {
    int t = threadIdx.x;
    out[t] = table[which[t]](t); //!
}""", 32, lambda wrong: (np.arange(32, dtype=i4) % (3 if wrong else 2), np.zeros(32, i4)))  # fmt: skip

case("rows_of_ldmatrix_not_aligned", "misaligned", """
extern "C" __global__ void k(const int* a, int* out, int skew) {
    __shared__ alignas(16) short s[8 * 16];
    int t = threadIdx.x, r;
    for (int i = t; i < 128; i += 32) s[i] = a[i % 32];
    __syncwarp();
    unsigned row = (unsigned)__cvta_generic_to_shared(&s[8 * (t % 8) + skew]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(row)); //!
    out[t] = r;
}""", 32, lambda wrong: (np.arange(32, dtype=i4), np.zeros(32, i4), i4(4 if wrong else 8)))  # fmt: skip
