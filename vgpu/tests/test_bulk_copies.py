"""Bulk copies and tensor maps on both engines: rows, boxes with holes and edges, swizzles, reductions, stores."""

from __future__ import annotations

import dataclasses
import struct

import numpy as np
import pytest

from vgpu.base.context import TENSOR_MAP
from vgpu.base.errors import BarrierError, Deadlock, KernelError, Misaligned, OutOfBounds, Unsupported
from vgpu.hardware.device import current, device
from vgpu.standins import cupy as cp
from vgpu.standins.tensor_map import driver_arguments, tensor_map
from vgpu.storage import memory
from vgpu.storage import tensor_map as maps

HOPPER = {"arch": "compute_90"}
PRELUDE = """
struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; };
typedef CUtensorMap_st CUtensorMap;
#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
namespace ptx = cuda::ptx;
#pragma nv_diag_suppress static_var_with_dynamic_init
typedef unsigned long long u64;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#define CTA ptx::sem_release, ptx::scope_cta, ptx::space_shared
__device__ void await(u64* b, unsigned parity) { while (!ptx::mbarrier_try_wait_parity(b, parity)) { } }
"""

ASM = """
typedef unsigned long long u64;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
"""


def ints(*shape, dtype=np.float32) -> np.ndarray:
    return np.random.default_rng(8).integers(-99, 99, shape).astype(dtype)


def on_device(values) -> np.ndarray:
    there = memory.array(values.shape, values.dtype)
    there[...] = values
    return there


def mapped(array, box, type="", **options) -> bytes:
    given = maps.describe(array.ctypes.data, array.itemsize, array.shape, array.strides, box, **options)
    return dataclasses.replace(given, type=type).encode()


def for_hopper(engine):
    """Makes kernels on NVIDIA's own wrappers."""
    return lambda source: engine.c(PRELUDE + source, **HOPPER)


def in_asm(engine):
    """Makes kernels that may write `at(p)` for an address in shared memory."""
    return lambda source: engine.c(ASM + source, **HOPPER)


# ---------------------------------------------------------------- runs of bytes

ROWS = """
    extern "C" __global__ void rows(const float* in, float* out, int n) {
        __shared__ alignas(16) float row[256];
        __shared__ u64 bar;
        if (threadIdx.x == 0) {
            ptx::mbarrier_init(&bar, 1);
            ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        }
        __syncthreads();
        unsigned bytes = n * sizeof(float);
        for (int i = 0; i < 3; ++i) {
            if (threadIdx.x == 0) {
                ptx::mbarrier_arrive_expect_tx(CTA, &bar, bytes);
                ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, row, in + i * n, bytes, &bar);
            }
            WAIT
            for (int j = threadIdx.x; j < n; j += blockDim.x) out[i * n + j] = row[n - 1 - j];
            __syncthreads();
        }
    }"""


@pytest.mark.parametrize("n", [4, 60, 256])
def test_rows_arrive_whole(engine, n):
    kernel = for_hopper(engine)(ROWS.replace("WAIT", "await(&bar, i & 1);"))
    data, out = ints(3, n), np.zeros((3, n), np.float32)
    kernel(1, 64, data, out, n)
    assert np.array_equal(out, data[:, ::-1])


def test_without_the_wait_nothing_has_arrived(engine):
    kernel = for_hopper(engine)(ROWS.replace("WAIT", "").replace("i < 3", "i < 1"))
    out = np.zeros(60, np.float32)
    kernel(1, 64, ints(3, 60), out, 60)
    assert (out.view(np.uint32) == 0xFFFFFFFF).all()


def test_bytes_that_are_not_announced_leave_the_barrier_waiting(engine):
    too_many = ROWS.replace("&bar, bytes)", "&bar, bytes + 16)", 1)
    kernel = for_hopper(engine)(too_many.replace("WAIT", "await(&bar, i & 1);"))
    with pytest.raises(Deadlock, match="16 bytes"):
        kernel(1, 64, ints(3, 60), np.zeros((3, 60), np.float32), 60)


def test_the_wrappers_of_cuda_barrier(engine):
    kernel = for_hopper(engine)("""
        extern "C" __global__ void wrapped(const int* in, int* out) {
            __shared__ alignas(16) int data[128];
            __shared__ barrier bar;
            if (threadIdx.x == 0) { init(&bar, blockDim.x); cde::fence_proxy_async_shared_cta(); }
            __syncthreads();
            barrier::arrival_token token;
            if (threadIdx.x == 0) {
                cuda::memcpy_async(data, in, cuda::aligned_size_t<16>(sizeof(data)), bar);
                token = bar.arrive();
            } else {
                token = bar.arrive();
            }
            bar.wait(cuda::std::move(token));
            data[threadIdx.x] += 1;
            cde::fence_proxy_async_shared_cta();
            __syncthreads();
            if (threadIdx.x == 0) {
                cde::cp_async_bulk_shared_to_global(out, data, sizeof(data));
                cde::cp_async_bulk_commit_group();
                cde::cp_async_bulk_wait_group_read<0>();
            }
        }""")
    data, out = ints(128, dtype=np.int32), np.zeros(128, np.int32)
    kernel(1, 128, data, out)
    assert np.array_equal(out, data + 1)


STORES = """
    extern "C" __global__ void stores(int* out) {
        __shared__ alignas(16) int data[3][32];
        for (int i = 0; i < 3; ++i) data[i][threadIdx.x] = 100 * (i + 1) + threadIdx.x;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int i = 0; i < 3; ++i) {
                ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 32 * i, data[i], 128);
                ptx::cp_async_bulk_commit_group();
            }
            WAIT
            for (int i = 0; i < 3; ++i) data[i][0] = -1;
        }
    }"""


@pytest.mark.parametrize(
    ("wait", "arrived"),
    [
        ("ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());", 3),
        ("ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());", 3),
        ("ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());", 2),
        ("ptx::cp_async_bulk_wait_group(ptx::n32_t<3>());", 0),
        ("", 0),
    ],
)
def test_stores_happen_when_their_group_is_waited_for_or_the_block_ends(engine, wait, arrived):
    kernel = for_hopper(engine)(STORES.replace("WAIT", wait))
    out = np.zeros((3, 32), np.int32)
    kernel(1, 32, out)
    expected = 100 * np.arange(1, 4)[:, None] + np.arange(32)
    expected[arrived:, 0] = -1  # those in flight read what the thread has written since
    assert np.array_equal(out, expected)


def test_stores_that_no_thread_waits_for_keep_their_order(engine):
    kernel = for_hopper(engine)("""
        extern "C" __global__ void stores(int* out) {
            __shared__ alignas(16) int data[2][4];
            int* mine = out + 4 * blockIdx.x;
            for (int i = 0; i < 2; ++i) data[i][threadIdx.x] = 10 * blockIdx.x + i;
            ptx::fence_proxy_async(ptx::space_shared);
            __syncthreads();
            if (threadIdx.x == 0) {
                ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, mine, data[0], 16);
                asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 16;"
                             :: "l"(mine), "r"((unsigned)__cvta_generic_to_shared(data[1])) : "memory");
            }
        }""")
    out = np.full((3, 4), 1000, np.int32)
    kernel(3, 4, out)
    assert np.array_equal(out, np.repeat([[1], [21], [41]], 4, 1))


@pytest.mark.parametrize(
    ("type_", "dtype", "operation", "combine"),
    [
        ("s32", np.int32, "add", np.add), ("u32", np.uint32, "max", np.maximum), ("s32", np.int32, "min", np.minimum),
        ("b32", np.uint32, "xor", np.bitwise_xor), ("u64", np.uint64, "add", np.add),
        ("b32", np.uint32, "or", np.bitwise_or),
    ],
)  # fmt: skip
def test_bulk_reductions(engine, type_, dtype, operation, combine):
    spelled = {4: "unsigned", 8: "u64"}[np.dtype(dtype).itemsize]
    kernel = in_asm(engine)(f"""
        extern "C" __global__ void reduce(const {spelled}* in, {spelled}* out) {{
            __shared__ alignas(16) {spelled} data[44];
            for (int i = threadIdx.x; i < 44; i += 32) data[i] = in[i];
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();
            if (threadIdx.x == 0) {{
                asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.{type_} [%0], [%1], %2;"
                             :: "l"(out), "r"(at(data)), "r"((int)sizeof(data)) : "memory");
                asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
            }}
        }}""")
    data = np.random.default_rng(1).integers(0, 2**31, 44).astype(dtype)
    out = np.random.default_rng(2).integers(0, 2**31, 44).astype(dtype)
    expected = combine(out, data)
    kernel(1, 32, data, out)
    assert np.array_equal(out, expected)


def test_blocks_add_floats_to_one_place(engine):
    kernel = in_asm(engine)("""
        extern "C" __global__ void total(float* out) {
            __shared__ alignas(16) float data[32];
            data[threadIdx.x] = threadIdx.x + blockIdx.x;
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();
            if (threadIdx.x == 0) {
                asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 128;"
                             :: "l"(out), "r"(at(data)) : "memory");
                asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
            }
        }""")
    out = np.ones(32, np.float32)
    kernel(6, 32, out)
    assert np.array_equal(out, 1 + 6 * np.arange(32, dtype=np.float32) + 15)


# ---------------------------------------------------------------- reductions by tensor maps

INTO = """
    struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
    extern "C" __global__ void into(const __grid_constant__ CUtensorMap out, const uint4* in, int x, int y) {
        __shared__ __align__(1024) uint4 data[64];
        for (int i = threadIdx.x; i < 64; i += 32) data[i] = in[i];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.OPERATION.tile.bulk_group"
                         " [%0, {%2, %3}], [%1];" :: "l"(&out), "r"(at(data)), "r"(x), "r"(y) : "memory");
            asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
        }
    }"""


@pytest.mark.parametrize(
    ("dtype", "kind", "operation", "combine"),
    [
        (np.float32, "f32", "add", np.add), (np.float16, "f16", "add", np.add), (np.uint32, "u32", "min", np.minimum),
        (np.int32, "s32", "max", np.maximum), (np.uint64, "u64", "add", np.add), (np.int64, "s64", "min", np.minimum),
        (np.uint32, "u32", "xor", np.bitwise_xor), (np.uint64, "u64", "or", np.bitwise_or),
        (np.uint32, "u32", "inc", lambda old, most: np.where(old >= most, 0, old + 1)),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("swizzle", "x", "y"), [(0, 0, 0), (128, 0, 3), (128, 4, -2)])
def test_reductions_by_tensor_maps(engine, dtype, kind, operation, combine, swizzle, x, y):
    """A box of 8 rows of 128 bytes, of which a part may lie outside the tensor."""
    wide = 128 // np.dtype(dtype).itemsize
    out, given = on_device(np.abs(ints(10, wide, dtype=dtype))), on_device(np.abs(ints(8, wide, dtype=dtype))[::-1])
    placed = given.copy()
    if swizzle:
        pieces = given.view(np.uint8).reshape(8, 8, 16)
        given.view(np.uint8).reshape(8, 8, 16)[:] = np.stack([pieces[r, np.arange(8) ^ r] for r in range(8)])
    expected = out.copy()
    low, high = max(y, 0), min(y + 8, 10)
    target = expected[low:high, x:]
    target[:] = combine(target, placed[low - y : high - y, : wide - x])
    map_ = mapped(out, (8, wide), swizzle=swizzle, type=kind)
    in_asm(engine)(INTO.replace("OPERATION", operation))(1, 32, map_, given, x, y)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("kind", "operation"), [("", "add"), ("u16", "add"), ("f32", "max"), ("s32", "inc")])
def test_reductions_that_the_type_lacks(engine, kind, operation):
    out = on_device(np.zeros((8, 32), np.float32))
    map_ = mapped(out, (8, 32), type=kind) if kind != "u16" else mapped(out.view(np.uint16), (8, 64), type=kind)
    with pytest.raises(KernelError):
        in_asm(engine)(INTO.replace("OPERATION", operation))(1, 32, map_, on_device(ints(8, 32)), 0, 0)


# ---------------------------------------------------------------- boxes of tensors

TENSOR = """
    extern "C" __global__ void box(
        const __grid_constant__ CUtensorMap in, T* out, int n, int a, int b, int c, int d, int e) {
        extern __shared__ __align__(1024) T tile[];
        __shared__ u64 bar;
        int at_[5] = {a, b, c, d, e};
        int where[RANK];
        for (int i = 0; i < RANK; ++i) where[i] = at_[i];
        if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, where, &bar);
            ptx::mbarrier_arrive_expect_tx(CTA, &bar, n * sizeof(T));
        }
        await(&bar, 0);
        for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tile[i];
    }"""


def box_of(engine, rank: int, element: str = "int"):
    return engine.c(f"{PRELUDE}\n#define RANK {rank}\n#define T {element}\n{TENSOR}", **HOPPER)


def cut(array, start, box, steps=None) -> np.ndarray:
    """The box of an array at `start`, zeros outside; all in NumPy's order."""
    steps = steps or (1,) * array.ndim
    found = np.zeros([-(-b // s) for b, s in zip(box, steps, strict=True)], array.dtype)
    for index in np.ndindex(*found.shape):
        at = [a + i * s for a, i, s in zip(start, index, steps, strict=True)]
        if all(0 <= a < n for a, n in zip(at, array.shape, strict=True)):
            found[index] = array[tuple(at)]
    return found


CASES = [
    # shape, box, start, steps
    ((200,), (64,), (0,), None),
    ((200,), (64,), (168,), None),
    ((200,), (64,), (-30,), None),
    ((40, 52), (8, 32), (4, 12), None),
    ((40, 52), (8, 32), (36, 28), None),
    ((40, 52), (8, 32), (-5, -9), None),
    ((40, 52), (8, 32), (100, 100), None),
    ((9, 7, 16), (2, 3, 8), (8, 5, 12), None),
    ((5, 4, 6, 12), (2, 2, 3, 4), (-1, 3, 4, 1), None),
    ((3, 3, 4, 5, 8), (2, 2, 2, 2, 4), (2, -1, 3, 0, 6), None),
    ((40, 52), (8, 32), (1, 3), (2, 1)),
    ((9, 12, 16), (6, 6, 8), (0, 1, 0), (3, 2, 1)),
]


@pytest.mark.parametrize(("shape", "box", "start", "steps"), CASES)
def test_boxes_of_tensors(engine, shape, box, start, steps):
    kernel = box_of(engine, len(shape))
    data = on_device(ints(*shape, dtype=np.int32))
    expected = cut(data, start, box, steps)
    out = np.full(expected.size, 7, np.int32)
    coordinates = [*reversed(start), 0, 0, 0, 0][:5]
    kernel(1, 32, mapped(data, box, steps=steps), out, out.size, *coordinates, shared_bytes=4 * out.size)
    assert np.array_equal(out.reshape(expected.shape), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float64])
def test_elements_of_every_size(engine, dtype):
    name = {1: "unsigned char", 2: "short", 8: "double"}[np.dtype(dtype).itemsize]
    kernel = box_of(engine, 2, name)
    data = on_device(np.random.default_rng(0).integers(0, 99, (20, 64)).astype(dtype))
    expected = cut(data, (17, 50), (4, 32))
    out = np.full(expected.size, 7, dtype)
    kernel(1, 32, mapped(data, (4, 32)), out, out.size, 50, 17, 0, 0, 0, shared_bytes=out.nbytes)
    assert np.array_equal(out.reshape(4, 32), expected)


@pytest.mark.parametrize("span", [32, 64, 128])
@pytest.mark.parametrize("start", [(0, 0), (13, 5), (-2, -3)])
def test_swizzled_rows(engine, span, start):
    """Piece p of 16 bytes in line k of 128 bytes stands at p xor (k mod pieces), counted within a row's pieces."""
    width = span // 4
    kernel = box_of(engine, 2)
    data = on_device(ints(40, 36, dtype=np.int32))
    plain = cut(data, start, (16, width)).reshape(-1)
    out = np.full(plain.size, 7, np.int32)
    where = (start[1], start[0], 0, 0, 0)
    kernel(1, 32, mapped(data, (16, width), swizzle=span), out, out.size, *where, shared_bytes=4 * out.size)
    expected = np.empty_like(plain)
    for i, value in enumerate(plain):
        line, piece, word = i // 32, i // 4, i % 4
        expected[(piece ^ (line % (span // 16))) * 4 + word] = value
    assert np.array_equal(out, expected)


TRANSPOSE = (
    PRELUDE
    + """
    extern "C" __global__ void transpose(
        const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
        __shared__ alignas(1024) float from[32][32], into[32][32];
        __shared__ u64 bar;
        int x = threadIdx.x, y = threadIdx.y;
        int here[2] = {(int)blockIdx.x * 32, (int)blockIdx.y * 32}, there[2] = {here[1], here[0]};
        if (x == 0 && y == 0) ptx::mbarrier_init(&bar, 1);
        __syncthreads();
        if (x == 0 && y == 0) {
            ptx::mbarrier_arrive_expect_tx(CTA, &bar, sizeof(from));
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, from, &in, here, &bar);
        }
        await(&bar, 0);
        for (int r = y; r < 32; r += 8) into[r][SWIZZLE(r, x)] = from[x][SWIZZLE(x, r)];
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (x == 0 && y == 0) {
            ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, there, into);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
    }"""
)
SWIZZLED = "#define SWIZZLE(row, column) ((column) ^ (((row) & 7) << 2))\n"
STRAIGHT = "#define SWIZZLE(row, column) (column)\n"


@pytest.mark.parametrize("swizzle", [0, 128])
@pytest.mark.parametrize("shape", [(64, 96), (40, 52)])
def test_transpose_by_tensor_maps(engine, swizzle, shape):
    kernel = engine.c((SWIZZLED if swizzle else STRAIGHT) + TRANSPOSE, **HOPPER)
    data, out = on_device(ints(*shape)), on_device(np.zeros(shape[::-1], np.float32))
    grid = (-(-shape[1] // 32), -(-shape[0] // 32))
    kernel(grid, (32, 8), mapped(data, (32, 32), swizzle=swizzle), mapped(out, (32, 32), swizzle=swizzle))
    assert np.array_equal(out, data.T)


def test_the_swizzle_removes_bank_conflicts(compiled):
    data, out = on_device(ints(64, 64)), on_device(np.zeros((64, 64), np.float32))
    found = {}
    for swizzle, words in ((0, STRAIGHT), (128, SWIZZLED)):
        kernel = compiled.c(words + TRANSPOSE, **HOPPER)
        maps_ = [mapped(a, (32, 32), swizzle=swizzle) for a in (data, out)]
        found[swizzle] = kernel((2, 2), (32, 8), *maps_, observe=True)
    assert found[0]["shared_load_conflicts"] == 31 * 32 * 4
    assert found[128]["shared_load_conflicts"] == 3 * 32 * 4  # eight rows share a pattern
    for counted in found.values():
        assert counted["bulk_loads"] == counted["bulk_stores"] == 4
        assert counted["bulk_load_bytes"] == counted["bulk_store_bytes"] == 64 * 64 * 4
        assert counted.footprint.read_bytes == counted.footprint.written_bytes == 64 * 64 * 4


def test_a_ring_of_boxes_filled_by_one_thread(engine):
    kernel = for_hopper(engine)("""
        #define STAGES 3
        extern "C" __global__ void ring(const __grid_constant__ CUtensorMap in, float* out, int tiles) {
            __shared__ alignas(128) float tile[STAGES][8][32];
            __shared__ u64 full[STAGES], empty[STAGES];
            int t = threadIdx.x;
            if (t == 0)
                for (int s = 0; s < STAGES; ++s) { ptx::mbarrier_init(&full[s], 1); ptx::mbarrier_init(&empty[s], 32); }
            __syncthreads();
            if (t >= 32) {
                if (t == 32)
                    for (int i = 0; i < tiles; ++i) {
                        int s = i % STAGES;
                        if (i >= STAGES) await(&empty[s], (i / STAGES + 1) & 1);
                        int where[2] = {0, 8 * i};
                        ptx::mbarrier_arrive_expect_tx(CTA, &full[s], 1024);
                        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile[s], &in, where, &full[s]);
                    }
            } else {
                float sum = 0;
                for (int i = 0; i < tiles; ++i) {
                    int s = i % STAGES;
                    await(&full[s], (i / STAGES) & 1);
                    for (int r = 0; r < 8; ++r) sum += tile[s][r][t];
                    ptx::mbarrier_arrive(&empty[s]);
                }
                out[t] = sum;
            }
        }""")
    data, out = on_device(ints(80, 32)), np.zeros(32, np.float32)
    kernel(1, 64, mapped(data, (8, 32)), out, 10)
    assert np.array_equal(out, data.sum(0))


def test_prefetches_change_nothing(engine):
    kernel = in_asm(engine)("""
        struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
        extern "C" __global__ void ahead(const __grid_constant__ CUtensorMap map, const float* in, float* out) {
            asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
            asm volatile("cp.async.bulk.prefetch.L2.global [%0], 64;" :: "l"(in));
            asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %1}];" :: "l"(&map), "r"(0));
            out[threadIdx.x] = in[threadIdx.x];
        }""")
    data, out = on_device(ints(8, 32)), np.zeros((8, 32), np.float32)
    kernel(1, 256, mapped(data, (8, 32)), data, out)
    assert np.array_equal(out, data)


# ---------------------------------------------------------------- what goes wrong


READY = 'asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at(&bar)) : "memory");'


def bulk_load(engine, target="row", source="in", nbytes="256", ready=READY):
    return in_asm(engine)(f"""
        extern "C" __global__ void load(const float* in, int n) {{
            __shared__ alignas(128) float row[64];
            __shared__ u64 bar;
            if (threadIdx.x == 0) {{
                {ready}
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                    :: "r"(at({target})), "l"({source}), "r"({nbytes}), "r"(at(&bar)) : "memory");
            }}
        }}""")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"source": "in + 1"}, Misaligned),
        ({"target": "row + 2"}, Misaligned),
        ({"nbytes": "n"}, KernelError),
        ({"source": "in + 64"}, OutOfBounds),
        ({"source": "in + 4"}, OutOfBounds),
        ({"target": "row + 16"}, OutOfBounds),
        ({"ready": ""}, BarrierError),
    ],
)
def test_wrong_bulk_copies_fail_where_they_are_issued(engine, options, error):
    with pytest.raises(error) as caught:
        bulk_load(engine, **options)(1, 32, ints(64), 100)
    assert caught.value.line in (10, 11)


def test_what_is_no_tensor_map(engine):
    kernel = box_of(engine, 2)
    data = on_device(ints(400, dtype=np.int32))
    for wrong in (bytes(128), mapped(data, (64,))):
        with pytest.raises(KernelError, match="tensor map"):
            kernel(1, 32, wrong, np.zeros(64, np.int32), 64, 0, 0, 0, 0, 0, shared_bytes=1024)


def test_rows_of_a_tensor_lie_multiples_of_16_bytes_apart(engine):
    """A kernel may be handed a map that `describe` refuses to make."""
    kernel = box_of(engine, 2)
    data, out = on_device(ints(8, 64, dtype=np.int32)), np.zeros(32, np.int32)
    made, at = bytearray(mapped(data, (2, 16))), TENSOR_MAP["strides"] + 8
    for stride in (256, 128, 248, 264, 252):
        struct.pack_into("<Q", made, at, stride)
        launch = lambda: kernel(1, 32, bytes(made), out, 32, 0, 0, 0, 0, 0, shared_bytes=1024)
        if stride % 16:
            with pytest.raises(KernelError, match="tensor map"):
                launch()
        else:
            launch()
            assert (out[16:] == data.ravel()[stride // 4 :][:16]).all()


def test_a_freed_array_behind_a_tensor_map(engine):
    kernel = box_of(engine, 1)
    data = on_device(ints(400, dtype=np.int32))
    encoded = bytearray(mapped(data, (64,)))
    encoded[24:32] = (int.from_bytes(encoded[24:32], "little") + 1600 + 4096).to_bytes(8, "little")
    with pytest.raises(OutOfBounds):
        kernel(1, 32, bytes(encoded), np.zeros(64, np.int32), 64, 0, 0, 0, 0, 0, shared_bytes=1024)


# ---------------------------------------------------------------- tensor_map


def test_tensor_map_of_an_array():
    array = cp.asarray(ints(40, 52))
    found = tensor_map(array, (8, 32), swizzle=128)
    assert isinstance(found, np.void)
    assert found.nbytes == 128
    assert bytes(found) == mapped(array._host, (8, 32), swizzle=128, type="f32")
    assert repr(found) == str(found) == "TensorMap(40×52 float32, boxes of 8×32, swizzled by 128 bytes)"
    assert repr(tensor_map(array, (8, 32), steps=(2, 1))).endswith("boxes of 8×32, every 2×1th element)")


def test_tensor_map_in_a_raw_kernel():
    kernel = cp.RawKernel(STRAIGHT + TRANSPOSE, "transpose")
    data = cp.asarray(ints(64, 32))
    out = cp.zeros((32, 64), np.float32)
    before = current().name
    device("H100")
    try:
        kernel((1, 2), (32, 8), (tensor_map(data, (32, 32)), tensor_map(out, (32, 32))))
    finally:
        device(before)
    assert np.array_equal(cp.asnumpy(out), cp.asnumpy(data).T)


@pytest.mark.parametrize(
    ("shape", "dtype", "box", "options", "words"),
    [
        ((40, 51), np.float32, (8, 32), {}, "multiple of 16 bytes apart"),
        ((40, 52), np.float32, (8, 30), {}, "row of the box"),
        ((40, 52), np.float32, (8, 32), {"swizzle": 64}, "64 bytes"),
        ((40, 52), np.float32, (8, 512), {}, "1 to 256"),
        ((40, 52), np.float32, (32,), {}, "2 dimensions"),
        ((40, 52), np.float32, (8, 32), {"swizzle": 48}, "swizzle"),
        ((40, 52), np.float32, (8, 32), {"steps": (9, 1)}, "steps"),
        ((2, 2, 2, 2, 2, 4), np.float32, (1, 1, 1, 1, 1, 4), {}, "1 to 5 dimensions"),
        ((40, 52), np.complex64, (8, 32), {}, "complex64"),
    ],
)
def test_what_hardware_refuses(shape, dtype, box, options, words):
    with pytest.raises(ValueError, match=words):
        tensor_map(cp.zeros(shape, dtype), box, **options)


def test_what_the_virtual_gpu_refuses():
    array = cp.zeros((40, 52), np.float32)
    with pytest.raises(Unsupported, match="rows of exactly"):
        tensor_map(array, (8, 16), swizzle=128)
    with pytest.raises(Unsupported, match="interleave"):
        tensor_map(array, (8, 16), interleave="16B")


def test_what_the_driver_is_given():
    found = maps.describe(4096, 2, (9, 40, 64), (5120, 128, 2), (2, 8, 64), swizzle=128, steps=(1, 2, 1))
    kind, rank, address, sizes, strides, box, steps, interleave, swizzle, _, fill = driver_arguments(found, "FLOAT16")
    assert kind.name == "CU_TENSOR_MAP_DATA_TYPE_FLOAT16"
    assert (rank, address) == (3, 4096)
    assert [int(n) for n in sizes] == [64, 40, 9]
    assert [int(n) for n in strides] == [128, 5120]
    assert [int(n) for n in box] == [64, 8, 2]
    assert [int(n) for n in steps] == [1, 2, 1]
    assert interleave.name.endswith("NONE")
    assert swizzle.name == "CU_TENSOR_MAP_SWIZZLE_128B"
    assert fill.name.endswith("NONE")
