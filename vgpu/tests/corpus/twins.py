"""One kernel for each feature of the virtual GPU, with a wrong twin: what `test_twins` looks at with every observer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np

from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda
from vgpu.standins import triton as stand_in
from vgpu.standins.cupy.cuda import runtime, texture
from vgpu.standins.tensor_map import tensor_map
from vgpu.tests.corpus.harness import there
from vgpu.tests.test_bulk_copies import PRELUDE
from vgpu.tests.test_mbarrier import ASM

triton = stand_in.activate()

import triton.language as tl  # noqa: E402

f4, i4 = np.float32, np.int32


@dataclass(frozen=True, eq=False)
class Feature:
    """`make(wrong)` gives a kernel and its arguments, of which the last is its result; `kind` is the twin's mistake."""

    name: str
    kind: str
    make: Callable
    grid: object
    block: object
    meta: dict = field(default_factory=dict)
    gpu: str = ""

    def there(self) -> AbstractContextManager:
        """Within a `with` block the modelled GPU is one that has the feature."""
        return there(self.gpu)

    def launch(self, kernel, args) -> np.ndarray:
        """Run it as a user does; the result."""
        if isinstance(kernel, cp.RawKernel):
            kernel(_three(self.grid), _three(self.block), args)
        elif self.block is None:
            kernel[_three(self.grid)](*args, **self.meta)
        else:
            kernel[self.grid, self.block](*args)
        return result(args)


def _three(size) -> tuple[int, ...]:
    return size if isinstance(size, tuple) else (size,)


def result(args) -> np.ndarray:
    found = args[-1]
    return found.copy_to_host() if hasattr(found, "copy_to_host") else cp.asnumpy(found)


def numbers(*shape) -> cp.ndarray:
    return cp.asarray(np.random.default_rng(3).integers(-9, 9, shape).astype(f4))


FEATURES: list[Feature] = []


def in_c(name, kind, source, grid, block, args, gpu="", cooperative=False, entry="k"):
    @functools.cache  # observers share what is compiled
    def kernel(wrong):
        flags = ("-std=c++17", *(("-DWRONG",) if wrong else ()))
        return cp.RawKernel(source, entry, options=flags, enable_cooperative_groups=cooperative)

    def make(wrong):
        return kernel(wrong), args()

    FEATURES.append(Feature(name, kind, make, grid, block, {}, gpu))


HEAD = 'extern "C" __global__ void k(const float* in, float* out) { int t = threadIdx.x;\n'
GROUPS = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"


def one_to_one(n):
    return lambda: (numbers(n), cp.zeros(n, f4))


in_c("cp.async", "copy_pending", "#include <cuda_pipeline.h>\n" + HEAD + """
    __shared__ float s[2][64]; float sum = 0;
    __pipeline_memcpy_async(&s[0][t], in + t, 4); __pipeline_commit();
    for (int i = 0; i < 3; ++i) {
        if (i < 2) __pipeline_memcpy_async(&s[(i + 1) & 1][t], in + 64 * (i + 1) + t, 4);
        __pipeline_commit();
    #ifndef WRONG
        __pipeline_wait_prior(1);
    #endif
        __syncthreads(); sum += s[i & 1][63 - t]; __syncthreads();
    }
    out[t] = sum; }""", 1, 64, one_to_one(192))  # fmt: skip

in_c("mbarrier", "race_read_write", ASM + HEAD + """
    __shared__ float s[64]; __shared__ u64 bar; if (t == 0) init(&bar, 64); __syncthreads(); float sum = 0;
    for (int i = 0; i < 3; ++i) { s[t] = in[64 * i + t]; arrive(&bar);
    #ifndef WRONG
        wait(&bar, 0);
    #endif
        sum += s[(t + 33) & 63]; __syncthreads(); arrive(&bar); wait(&bar, 1); }
    out[t] = sum; }""", 1, 64, one_to_one(192), "H100")  # fmt: skip

in_c("mbarrier within a warp", "race_read_write", ASM + HEAD + """
    __shared__ u64 full, empty; __shared__ float slot; float sum = 0;
    if (t == 0) { init(&full, 1); init(&empty, 31); } __syncwarp();
    #ifdef WRONG
    #define wait(...)
    #define arrive(...)
    #endif
    if (t == 0) for (int i = 0; i < 4; ++i) { if (i) wait(&empty, (i - 1) & 1); slot = in[i]; arrive(&full); }
    else for (int i = 0; i < 4; ++i) { wait(&full, i & 1); sum += slot; arrive(&empty); }
    out[t] = sum; }""", 1, 32, one_to_one(32), "H100")  # fmt: skip

in_c("bulk copy", "copy_pending", PRELUDE + HEAD + """
    __shared__ alignas(16) float row[64]; __shared__ u64 bar;
    if (t == 0) { ptx::mbarrier_init(&bar, 1); ptx::mbarrier_arrive_expect_tx(CTA, &bar, 256);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, row, in + 64 * blockIdx.x, 256, &bar); }
    __syncthreads();
    #ifndef WRONG
    await(&bar, 0);
    #endif
    out[64 * blockIdx.x + t] = 2 * row[63 - t]; }""", 2, 64, one_to_one(128), "H100")  # fmt: skip

in_c("tensor map", "copy_pending", PRELUDE + """
extern "C" __global__ void k(const __grid_constant__ CUtensorMap in, float* out) { int t = threadIdx.x;
    __shared__ alignas(128) float tile[8][32]; __shared__ u64 bar;
    if (t == 0) { int where[2] = {0, 8 * (int)blockIdx.x};
        ptx::mbarrier_init(&bar, 1); ptx::mbarrier_arrive_expect_tx(CTA, &bar, 1024);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, where, &bar); }
    __syncthreads();
    #ifndef WRONG
    await(&bar, 0);
    #endif
    float sum = 0; for (int r = 0; r < 8; ++r) sum += (r + 1) * tile[r][t]; out[32 * blockIdx.x + t] = sum; }""",
    2, 32, lambda: (tensor_map(KEPT, (8, 32)), cp.zeros(64, f4)), "H100")  # fmt: skip
KEPT = numbers(16, 32)

in_c("wmma", "race_read_write", """#include <mma.h>
using namespace nvcuda;
""" + HEAD + """
    __shared__ half s[256]; __shared__ float product[256];
    for (int i = t; i < 256; i += 64) s[i] = in[i];
    #ifndef WRONG
    __syncthreads();
    #endif
    if (t < 32) { wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c; wmma::fill_fragment(c, 1.0f);
        wmma::load_matrix_sync(a, s, 16); wmma::load_matrix_sync(b, s, 16); wmma::mma_sync(c, a, b, c);
        wmma::store_matrix_sync(product, c, 16, wmma::mem_row_major); }
    __syncthreads();
    for (int i = t; i < 256; i += 64) out[i] = product[i]; }""", 1, 64, one_to_one(256))  # fmt: skip


def textured():
    channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    array = texture.CUDAarray(channel, 16, 8)
    array.copy_from(numbers(8, 16))
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array)
    return texture.TextureObject(resource, texture.TextureDescriptor()), cp.zeros(64, f4)


in_c("texture", "race_read_write", """
extern "C" __global__ void k(cudaTextureObject_t in, float* out) { int t = threadIdx.x; __shared__ float s[64];
    s[t] = tex2D<float>(in, t % 16 + 0.5f, t / 16 + 0.5f);
    #ifndef WRONG
    __syncthreads();
    #endif
    out[t] = s[63 - t] + tex2D<float>(in, 15.5f - t % 16, 0.5f); }""", 1, 64, textured)  # fmt: skip

in_c("calls and recursion", "race_read_write", """
__device__ __noinline__ float deep(const float* s, int n) { return n <= 0 ? s[0] : s[n] + 2 * deep(s, n - 7); }
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float less(float x) { return x - 1; }
__device__ float (*table[2])(float) = {twice, less};
""" + HEAD + """
    __shared__ float s[64]; s[t] = in[t];
    #ifndef WRONG
    __syncthreads();
    #endif
    out[t] = table[t & 1](deep(s, t)); }""", 1, 64, one_to_one(64))  # fmt: skip

in_c("groups of a warp", "race_read_write", GROUPS + HEAD + """
    __shared__ float s[32]; auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    float v = in[t]; for (int d = 4; d; d /= 2) v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0) s[t] = v;
    #ifndef WRONG
    __syncwarp();
    #endif
    auto together = cg::coalesced_threads();
    out[t] = s[t / 8 * 8] + together.size() + (tile.any(in[t] > 8) ? 100 : 0); }""", 1, 32, one_to_one(32))  # fmt: skip

in_c("barriers with a count", "race_read_write", HEAD + """
    __shared__ float s[96]; s[t] = in[t];
    #ifndef WRONG
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    #endif
    float v = t < 64 ? s[63 - t] : 0;
    if (t < 64) asm volatile("bar.arrive 2, 96;" ::: "memory");
    else { asm volatile("bar.sync 2, 96;" ::: "memory"); v = s[t - 64]; }
    out[t] = v; }""", 1, 96, one_to_one(96))  # fmt: skip

in_c("a barrier of the grid", "race_read_write", GROUPS + """
extern "C" __global__ void k(const float* in, float* part, float* out) {
    auto grid = cg::this_grid(); int i = grid.thread_rank();
    part[i] = 2 * in[i];
    #ifndef WRONG
    grid.sync();
    #else
    cg::this_thread_block().sync();
    #endif
    out[i] = part[(i + 32) % 128] + part[i]; }""",
    4, 32, lambda: (numbers(128), cp.zeros(128, f4), cp.zeros(128, f4)), cooperative=True)  # fmt: skip

in_c("blocks that hand on a sum", "race_read_write", """
extern "C" __global__ void k(const float* in, float* sums, int* ready, float* out) {
    int t = threadIdx.x, b = blockIdx.x; __shared__ float s;
    if (t == 0) { float sum = in[b]; if (b) { while (atomicAdd(&ready[b - 1], 0) == 0) { }
    #ifndef WRONG
        __threadfence();
    #endif
        sum += sums[b - 1]; }
        sums[b] = sum;
    #ifndef WRONG
        __threadfence();
    #endif
        atomicExch(&ready[b], 1); s = sum; }
    __syncthreads(); out[32 * b + t] = s; }""",
    5, 32, lambda: (numbers(5), cp.zeros(5, f4), cp.zeros(5, i4), cp.zeros(160, f4)))  # fmt: skip

in_c("a lock", "race_read_write", """
extern "C" __global__ void k(const float* in, int* lock, float* out) {
    int t = threadIdx.x;
    if (t % 3 == 0) {
    #ifndef WRONG
        while (atomicCAS(lock, 0, 1) != 0) { }
        __threadfence();
    #endif
        out[0] += in[t];
    #ifndef WRONG
        __threadfence(); atomicExch(lock, 0);
    #endif
    } }""", 2, 64, lambda: (numbers(64), cp.zeros(1, i4), cp.zeros(1, f4)))  # fmt: skip


@cuda.jit
def numba_grid(x, part, wrong, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    part[i] = 2 * x[i]
    if not wrong:
        grid.sync()
    out[i] = part[(i + 32) % x.size]
    grid.sync()


def numba(wrong):
    arrays = [cuda.to_device(np.arange(96, dtype=f4)), *(cuda.to_device(np.zeros(96, f4)) for _ in range(2))]
    return numba_grid, (arrays[0], arrays[1], wrong, arrays[2])


FEATURES.append(Feature("Numba's barrier of the grid", "race_read_write", numba, 3, 32))


@triton.jit
def triton_grid(x, part, count, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + at, 2 * tl.load(x + at))
    tl.debug_barrier()
    tl.atomic_add(count, 1)
    while tl.atomic_add(count, 0) < tl.num_programs(0):
        pass
    tl.debug_barrier()
    tl.store(out + at, tl.load(part + (at + BLOCK) % (tl.num_programs(0) * BLOCK)))


@triton.jit
def triton_wrong(x, part, count, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + at, 2 * tl.load(x + at))
    tl.atomic_add(count, 1)
    tl.store(out + at, tl.load(part + (at + BLOCK) % (tl.num_programs(0) * BLOCK)))


def in_triton(wrong):
    kernel = triton_wrong if wrong else triton_grid
    return kernel, (numbers(384), cp.zeros(384, f4), cp.zeros(1, i4), cp.zeros(384, f4))


FEATURES.append(Feature("Triton's blocks that wait", "race_read_write", in_triton, 3, None, {"BLOCK": 128}))
