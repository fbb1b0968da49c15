"""`cp.async` on both engines: what arrives, when it becomes visible, and what is counted."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.errors import KernelError, Misaligned, OutOfBounds
from vgpu.launch import launch
from vgpu.ptx import PTXSyntaxError


def floats(*shape) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape, np.float32)


def is_stale(values) -> np.ndarray:
    """Which elements are what fresh shared memory holds."""
    return np.ascontiguousarray(values).view(np.uint32) == 0xFFFFFFFF


ASM = """
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
"""
COPY = "__pipeline_memcpy_async(&tile[t], &in[t], 4); __pipeline_commit();"
WAIT = "__pipeline_wait_prior(0);"


def copied(engine, body: str, threads: int = 32, tiles: int = 1, seen: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(the data, what one block wrote): `body` copies `in` to `tile` and writes `out`; t is the thread.

    There are `tiles` tiles of one element a thread, and room for `seen` times as many results.
    """
    shape = f"[{tiles}][{threads}]" if tiles > 1 else f"[{threads}]"
    kernel = engine.c(f"""
        #include <cuda_pipeline.h>
        extern "C" __global__ void copies(const float* in, float* out) {{
            __shared__ float tile{shape};
            int t = threadIdx.x;
            {body}
        }}""")
    data = floats(tiles, threads)
    out = np.zeros((seen, *data.shape), np.float32)
    kernel(1, threads, data, out)
    return np.squeeze(data), np.squeeze(out)


def in_asm(engine):
    """Makes kernels that may write `at(p)` for an address in shared memory."""
    return lambda source: engine.c(ASM + source)


@pytest.mark.parametrize(("type_", "nbytes"), [("float", 4), ("float2", 8), ("float4", 16)])
def test_primitives_copy_each_size(engine, type_, nbytes):
    kernel = engine.c(f"""
        #include <cuda_pipeline.h>
        extern "C" __global__ void copy(const {type_}* in, {type_}* out) {{
            __shared__ {type_} tile[96];
            int t = threadIdx.x;
            __pipeline_memcpy_async(&tile[t], &in[t], {nbytes});
            __pipeline_commit();
            __pipeline_wait_prior(0);
            __syncthreads();
            out[t] = tile[95 - t];
        }}""")
    data = floats(96, nbytes // 4)
    out = np.zeros_like(data)
    kernel(1, 96, data, out)
    assert np.array_equal(out, data[::-1])


@pytest.mark.parametrize("given", [COPY, COPY.replace("__pipeline_commit();", "") + WAIT], ids=["no wait", "no commit"])
def test_without_its_wait_or_commit_nothing_has_arrived(engine, given):
    _, out = copied(engine, given + "__syncthreads(); out[t] = tile[t];", 64)
    assert is_stale(out).all()


def test_without_the_barrier_only_the_own_warp_is_seen(engine):
    data, out = copied(engine, COPY + WAIT + "out[t] = tile[63 - t];", 64)
    assert is_stale(out[:32]).all()  # the first warp runs before the second has waited
    assert np.array_equal(out[32:], data[::-1][32:])


def test_waiting_for_all_but_the_latest_groups(engine):
    each = "for (int s = 0; s < 4; ++s)"
    body = f"{each} {{ __pipeline_memcpy_async(&tile[s][t], &in[32 * s + t], 4); __pipeline_commit(); }}\n"
    for number, left in enumerate((3, 1, 0)):
        body += f"__pipeline_wait_prior({left}); {each} out[{128 * number} + 32 * s + t] = tile[s][t];\n"
    data, out = copied(engine, body, tiles=4, seen=3)
    for have, seen in zip((1, 3, 4), out, strict=True):
        assert np.array_equal(seen[:have], data[:have])
        assert is_stale(seen[have:]).all()


def test_threads_of_a_warp_commit_and_wait_for_themselves(engine):
    data, out = copied(engine, COPY + f"if (t % 3 == 0) {WAIT} __syncwarp(); out[t] = tile[t];")
    waited = np.arange(32) % 3 == 0
    assert np.array_equal(out[waited], data[waited])
    assert is_stale(out[~waited]).all()


def test_groups_are_counted_thread_by_thread(engine):
    """Odd threads commit twice, so that leaving one group pending leaves none of theirs with the first copy."""
    data, out = copied(engine, COPY + "if (t & 1) __pipeline_commit(); __pipeline_wait_prior(1); out[t] = tile[t];")
    assert np.array_equal(out[1::2], data[1::2])
    assert is_stale(out[::2]).all()


@pytest.mark.parametrize("take", [0, 3, 4, 7, 12, 16])
def test_a_source_size_fills_with_zeros(engine, take):
    kernel = in_asm(engine)("""
        extern "C" __global__ void part(const char* in, char* out, int take) {
            __shared__ alignas(16) char tile[512];
            int t = threadIdx.x;
            asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
                         :: "r"(at(&tile[16 * t])), "l"(in + 16 * t), "r"(take));
            asm volatile("cp.async.wait_all;");
            for (int i = 0; i < 16; ++i) out[16 * t + i] = tile[16 * t + i];
        }""")
    data = np.random.default_rng(1).integers(1, 256, (32, 16)).astype(np.uint8)
    out = np.full((32, 16), 9, np.uint8)
    kernel(1, 32, data, out, take)
    expected = data.copy()
    expected[:, take:] = 0
    assert np.array_equal(out, expected)


def test_a_source_size_may_end_with_the_array(engine):
    """The last piece of an array that is no multiple of 16 bytes: its missing bytes are neither read nor missed."""
    kernel = engine.c("""
        #include <cuda_pipeline.h>
        extern "C" __global__ void ragged(const float* in, float4* out, int n) {
            __shared__ float4 tile[32];
            int t = threadIdx.x, first = 4 * t;
            int left = n - first;
            left = left < 0 ? 0 : left > 4 ? 4 : left;
            __pipeline_memcpy_async(&tile[t], left ? in + first : in, 16, 16 - 4 * left);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            out[t] = tile[t];
        }""")
    for n in (1, 6, 101, 128):
        data, out = floats(n), np.full(128, 5, np.float32)
        kernel(1, 32, data, out, n)
        assert np.array_equal(out, np.pad(data, (0, 128 - n)))


def test_an_ignored_source_is_not_read(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void ignore(const float* in, float* out, int n) {
            __shared__ float tile[64];
            int t = threadIdx.x;
            asm volatile("{ .reg .pred p; setp.ge.s32 p, %2, %3;"
                         " cp.async.ca.shared.global [%0], [%1], 4, p; }"
                         :: "r"(at(&tile[t])), "l"(in + t), "r"(t), "r"(n));
            asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
            out[t] = tile[t];
        }""")
    data, out = floats(40), np.full(64, 5, np.float32)
    kernel(1, 64, data, out, 40)
    assert np.array_equal(out, np.pad(data, (0, 24)))


def test_a_guard_and_a_cache_policy(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void guarded(const float* in, float* out, int n) {
            __shared__ float tile[64];
            int t = threadIdx.x;
            tile[t] = -1;
            asm volatile("{ .reg .pred p; .reg .b64 policy; setp.lt.s32 p, %2, %3;"
                         " createpolicy.fractional.L2::evict_first.b64 policy, 1.0;"
                         " @p cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 4, policy; }"
                         :: "r"(at(&tile[t])), "l"(in + t), "r"(t), "r"(n));
            asm volatile("cp.async.wait_all;");
            out[t] = tile[t];
        }""")
    data, out = floats(64), np.zeros(64, np.float32)
    kernel(1, 64, data, out, 40)
    assert np.array_equal(out, np.where(np.arange(64) < 40, data, np.float32(-1)))


def test_many_copies_without_a_wait_all_arrive_in_the_end(engine):
    """More than a queue holds; blocks follow one another, so nothing may be left from the block before."""
    kernel = engine.c("""
        #include <cuda_pipeline.h>
        extern "C" __global__ void many(const float* in, float* out) {
            __shared__ float tile[360 * 32];
            int t = threadIdx.x;
            for (int i = 0; i < 360; ++i) __pipeline_memcpy_async(&tile[32 * i + t], &in[32 * i + t], 4);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            float sum = 0;
            for (int i = 0; i < 360; ++i) sum += tile[32 * i + t];
            out[blockIdx.x * 32 + t] = sum;
            __pipeline_memcpy_async(&tile[t], &in[t], 4);  // never waited for
        }""")
    data, out = np.random.default_rng(2).integers(0, 9, (360, 32)).astype(np.float32), np.zeros((3, 32), np.float32)
    kernel(3, 32, data, out)
    assert np.array_equal(out, np.broadcast_to(data.sum(0), (3, 32)))


DOUBLE_BUFFERED = """
    #include <cuda_pipeline.h>
    #define T 16
    extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
        __shared__ float ta[2][T][T], tb[2][T][T];
        int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, column = blockIdx.x * T + x;
        float sum = 0;
        __pipeline_memcpy_async(&ta[0][y][x], &a[row * n + x], 4);
        __pipeline_memcpy_async(&tb[0][y][x], &b[y * n + column], 4);
        __pipeline_commit();
        for (int k = 0, s = 0; k < n; k += T, s ^= 1) {
            if (k + T < n) {
                __pipeline_memcpy_async(&ta[s ^ 1][y][x], &a[row * n + k + T + x], 4);
                __pipeline_memcpy_async(&tb[s ^ 1][y][x], &b[(k + T + y) * n + column], 4);
            }
            __pipeline_commit();
            WAIT
            __syncthreads();
            for (int i = 0; i < T; ++i) sum += ta[s][y][i] * tb[s][i][x];
            __syncthreads();
        }
        c[row * n + column] = sum;
    }"""


def test_double_buffered_matmul(engine):
    kernel = engine.c(DOUBLE_BUFFERED.replace("WAIT", "__pipeline_wait_prior(1);"))
    a, b = floats(48, 48), floats(48, 48).T.copy()
    c = np.zeros((48, 48), np.float32)
    kernel((3, 3), (16, 16), a, b, c, 48)
    assert np.allclose(c, a @ b, atol=1e-4)


def test_double_buffered_matmul_that_waits_for_the_wrong_group(engine):
    kernel = engine.c(DOUBLE_BUFFERED.replace("WAIT", "__pipeline_wait_prior(2);"))
    a = floats(32, 32)
    c = np.zeros((32, 32), np.float32)
    kernel((2, 2), (16, 16), a, a, c, 32)
    assert np.isnan(c).all()


def test_four_stage_pipeline(engine):
    kernel = engine.c("""
        #include <cuda_pipeline.h>
        #define STAGES 4
        extern "C" __global__ void running(const float4* in, float* out, int tiles) {
            __shared__ float4 ring[STAGES][32];
            int t = threadIdx.x;
            float sum = 0;
            for (int s = 0; s < STAGES - 1; ++s) {
                if (s < tiles) __pipeline_memcpy_async(&ring[s][t], &in[32 * s + t], 16);
                __pipeline_commit();
            }
            for (int i = 0; i < tiles; ++i) {
                __pipeline_wait_prior(STAGES - 2);
                __syncthreads();
                float4 v = ring[i % STAGES][31 - t];
                sum += v.x + v.y * 2 + v.z * 3 + v.w * 4;
                int next = i + STAGES - 1;
                if (next < tiles) __pipeline_memcpy_async(&ring[next % STAGES][t], &in[32 * next + t], 16);
                __pipeline_commit();
            }
            out[t] = sum;
        }""")
    for tiles in (1, 2, 3, 4, 11):
        data = np.random.default_rng(tiles).integers(-9, 9, (tiles, 32, 4)).astype(np.float32)
        out = np.zeros(32, np.float32)
        kernel(1, 32, data, out, tiles)
        assert np.array_equal(out, (data @ np.arange(1, 5, dtype=np.float32)).sum(0)[::-1])


def test_cuda_pipeline_objects(engine):
    kernel = engine.c("""
        #include <cuda/pipeline>
        #include <cooperative_groups.h>
        extern "C" __global__ void staged(const float* in, float* out, int tiles) {
            __shared__ float tile[2][64];
            auto pipe = cuda::make_pipeline();
            int t = threadIdx.x;
            float sum = 0;
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[0][t], &in[t], sizeof(float), pipe);
            pipe.producer_commit();
            for (int i = 0; i < tiles; ++i) {
                pipe.producer_acquire();
                int next = i + 1;
                if (next < tiles) cuda::memcpy_async(&tile[next % 2][t], &in[64 * next + t], sizeof(float), pipe);
                pipe.producer_commit();
                cuda::pipeline_consumer_wait_prior<1>(pipe);
                __syncthreads();
                sum += tile[i % 2][63 - t];
                __syncthreads();
                pipe.consumer_release();
            }
            out[t] = sum;
        }""")
    data, out = floats(5, 64), np.zeros(64, np.float32)
    kernel(1, 64, data, out, 5)
    expected = np.float32(0)
    for row in data:
        expected = expected + row[::-1]
    assert np.array_equal(out, expected)


def test_cooperative_groups_copy(engine):
    kernel = engine.c("""
        #include <cooperative_groups.h>
        #include <cooperative_groups/memcpy_async.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void together(const float* in, float* out, int n) {
            __shared__ alignas(16) float tile[200];
            auto block = cg::this_thread_block();
            cg::memcpy_async(block, tile, in, sizeof(float) * n);
            cg::wait(block);
            for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tile[n - 1 - i];
        }""")
    data, out = floats(200), np.zeros(200, np.float32)
    kernel(1, 64, data, out, 200)
    assert np.array_equal(out, data[::-1])


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(("target", "size", "thread"), [("t", 50, 50), ("t + 8", 64, 56)], ids=["source", "target"])
def test_what_lies_outside_fails_at_the_copy_and_not_at_the_wait(engine, target, size, thread):
    kernel = engine.c(f"""
        #include <cuda_pipeline.h>
        extern "C" __global__ void beyond(const float* in, float* out) {{
            __shared__ float tile[64];
            int t = threadIdx.x;
            __pipeline_memcpy_async(&tile[{target}], &in[t], 4);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            out[t] = tile[t];
        }}""")
    with pytest.raises(OutOfBounds) as caught:
        kernel(1, 64, floats(size), np.zeros(64, np.float32))
    assert (caught.value.line, caught.value.thread) == (6, (thread, 0, 0))


@pytest.mark.parametrize("side", ["in + 1 + 4 * threadIdx.x", "in + 4 * threadIdx.x"])
def test_sixteen_bytes_need_their_alignment(engine, side):
    target = "4 * threadIdx.x" if "+ 1" in side else "4 * threadIdx.x + 2"
    kernel = in_asm(engine)(f"""
        extern "C" __global__ void crooked(const float* in) {{
            __shared__ alignas(16) float tile[256];
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(&tile[{target}])), "l"({side}));
            asm volatile("cp.async.wait_all;");
        }}""")
    with pytest.raises(Misaligned) as caught:
        kernel(1, 32, floats(256))
    assert caught.value.line == 6


def test_a_source_size_beyond_the_size(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void greedy(const float* in, int take) {
            __shared__ float tile[32];
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                         :: "r"(at(&tile[threadIdx.x])), "l"(in + threadIdx.x), "r"(take));
        }""")
    with pytest.raises(KernelError, match=r"cop(y of|ies) 8 bytes"):
        kernel(1, 32, floats(64), 8)


# ---------------------------------------------------------------- what is counted


def test_counters(compiled):
    kernel = compiled.c("""
        #include <cuda_pipeline.h>
        extern "C" __global__ void copy(const float4* in, float4* out, int stride) {
            __shared__ float4 tile[256];
            int t = threadIdx.x;
            __pipeline_memcpy_async(&tile[t * stride % 256], &in[t], 16);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            __syncthreads();
            out[t] = tile[t];
        }""")
    data, out = floats(64, 4), np.zeros((64, 4), np.float32)
    counted = kernel(1, 64, data, out, 1, observe=True)
    assert counted["smsp__inst_executed_op_ldgsts.sum"] == 2
    assert counted["l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum"] == 2
    assert counted["l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"] == 64 * 16 // 32
    assert counted["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"] == 8
    assert counted["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"] == 0
    assert counted["async_copy_bytes"] == 64 * 16
    assert counted["global_load_requests"] == 0
    assert counted["shared_store_wavefronts"] == 0
    assert counted.lines[6]["async_copies"] == 2
    assert kernel(1, 64, data, out, 2, observe=True)["shared_copy_conflicts"] == 8
    assert kernel(1, 40, data, out, 1, observe=True)["async_copy_bytes"] == 40 * 16


def test_what_is_filled_reads_no_sector(compiled):
    kernel = compiled.c("""
        #include <cuda_pipeline.h>
        extern "C" __global__ void fill(const float4* in, float4* out) {
            __shared__ float4 tile[32];
            int t = threadIdx.x;
            __pipeline_memcpy_async(&tile[t], &in[t], 16, t < 16 ? 0 : 16);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            out[t] = tile[t];
        }""")
    data, out = floats(32, 4), np.ones((32, 4), np.float32)
    counted = kernel(1, 32, data, out, observe=True)
    assert counted["global_copy_sectors"] == 8
    assert counted["global_copy_requests"] == 1
    assert counted["async_copy_bytes"] == 512
    assert counted.footprint.read_bytes == 256
    assert np.array_equal(out[:16], data[:16])
    assert not out[16:].any()


# ---------------------------------------------------------------- PTX that is no PTX


@pytest.mark.parametrize(
    "text",
    [
        "cp.async.ca.shared.global [%r1], [%rd1];",
        "cp.async.ca.shared.global [%r1], 4, 4;",
        "cp.async.wait_group;",
        "cp.async.commit_group 1;",
        "cp.async.mbarrier.arrive.shared.b64 %r1;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16;",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], %rd1, [%r1];",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.u64.tile.bulk_group [%rd1, {%r1, %r2}], [%r1];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add [%rd1], [%r1], 16;",
        "mbarrier.b64 [%r1];",
        "mbarrier.init.shared.b64 [%r1];",
        "mbarrier.arrive.shared.b64 [%r1];",
        "mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1];",
        "mbarrier.try_wait.shared.b64 %r1, [%r1];",
    ],
)
def test_malformed_text_is_refused_with_its_line(text):
    source = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry wrong() {{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    {text}
    ret;
}}"""
    with pytest.raises(PTXSyntaxError, match="line 7 of the PTX"):
        launch.load(source, language="cuda")
