"""CuTe in CUDA C++: its headers are found, and what its tiles and atoms compile to gives NumPy's results."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from vgpu.base.errors import CompileError, Unsupported
from vgpu.compile import cuda_c
from vgpu.compile.cute import cute_options
from vgpu.hardware.device import device
from vgpu.programs.cuda_c import build
from vgpu.standins import cupy as cp
from vgpu.tools.profile import profile
from vgpu.tools.sanitize import sanitize

HOW = "CUTLASS's headers are optional: python -m pip install --no-deps -c constraints.txt nvidia-cutlass"
installed = pytest.mark.skipif(cuda_c.packaged(*cuda_c.CUTLASS) is None, reason=HOW)

TRANSPOSE = r"""
#include <cute/tensor.hpp>
using namespace cute;

extern "C" __global__ void transpose(const float* in, float* out, int m, int n) {
  __shared__ float memory[32 * 33];
  auto tile = make_tensor(make_smem_ptr(memory), make_layout(Shape<_32, _32>{}, Stride<Int<33>, _1>{}));
  auto x = make_tensor(make_gmem_ptr(in), make_layout(make_shape(m, n), LayoutRight{}));
  auto y = make_tensor(make_gmem_ptr(out), make_layout(make_shape(m, n), LayoutLeft{}));
  auto shape = Shape<_32, _32>{};
  auto block = make_coord(blockIdx.y, blockIdx.x);
  auto threads = Layout<Shape<_8, _32>, Stride<_32, _1>>{};
  auto from = local_partition(local_tile(x, shape, block), threads, threadIdx.x);
  copy(from, local_partition(tile, threads, threadIdx.x));
  __syncthreads();
  auto columns = Layout<Shape<_32, _8>>{};
  auto to = local_partition(local_tile(y, shape, block), columns, threadIdx.x);
  copy(local_partition(tile, columns, threadIdx.x), to);
}
"""

WARPGROUP = r"""
#include <cutlass/arch/barrier.h>
#include <cute/tensor.hpp>
using namespace cute;

extern "C" __global__ void product(const half_t* a, const half_t* b, float* c) {
  auto tiled = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{});
  auto layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{});
  __shared__ alignas(1024) half_t a_memory[cosize_v<decltype(layout)>], b_memory[cosize_v<decltype(layout)>];
  auto sa = make_tensor(make_smem_ptr(a_memory), layout);
  auto sb = make_tensor(make_smem_ptr(b_memory), layout);
  auto rows = make_layout(Shape<_64, _64>{}, LayoutRight{});
  auto threads = Layout<Shape<_2, _64>, Stride<_64, _1>>{};
  copy(local_partition(make_tensor(make_gmem_ptr(a), rows), threads, threadIdx.x),
       local_partition(sa, threads, threadIdx.x));
  copy(local_partition(make_tensor(make_gmem_ptr(b), rows), threads, threadIdx.x),
       local_partition(sb, threads, threadIdx.x));
  cutlass::arch::fence_view_async_shared();
  __syncthreads();
  auto mine = tiled.get_thread_slice(threadIdx.x);
  auto gc = mine.partition_C(make_tensor(make_gmem_ptr(c), rows));
  auto rc = mine.make_fragment_C(gc);
  clear(rc);
  auto ra = mine.make_fragment_A(mine.partition_A(sa));
  auto rb = mine.make_fragment_B(mine.partition_B(sb));
  warpgroup_fence_operand(rc);
  warpgroup_arrive();
  gemm(tiled, ra, rb, rc);
  warpgroup_commit_batch();
  warpgroup_wait<0>();
  warpgroup_fence_operand(rc);
  copy(rc, gc);
}
"""


def small(shape, dtype, seed):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


@pytest.fixture
def hopper():
    device("H100")
    yield
    device.reset()


@installed
def test_a_transposition_needs_no_options():
    x = small((64, 96), np.float32, 0)
    kernel, y = cp.RawKernel(TRANSPOSE, "transpose"), cp.zeros((96, 64), np.float32)
    arguments = cp.asarray(x), y, np.int32(64), np.int32(96)
    kernel((3, 2), (256,), arguments)
    assert np.array_equal(y.get(), x.T)
    counted = profile(kernel, (3, 2), 256, arguments)
    assert counted["shared_load_conflicts"] == counted["shared_store_conflicts"] == 0
    assert counted["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 64 * 96 // 8
    assert counted["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 64 * 96 // 8


@installed
def test_a_product_of_a_warpgroup(hopper):
    a, b = small((64, 64), np.float16, 1), small((64, 64), np.float16, 2)
    kernel, c = cp.RawKernel(WARPGROUP, "product", options=cute_options()), cp.zeros((64, 64), np.float32)
    arguments = cp.asarray(a), cp.asarray(b), c
    kernel((1,), (128,), arguments)
    assert np.array_equal(c.get(), a.astype(np.float32) @ b.astype(np.float32).T)
    assert not sanitize(kernel, 1, 128, arguments).findings


PROGRAM = r"""
#include <cstdio>
#include <cute/tensor.hpp>
#include "cutlass/cluster_launch.hpp"
#include "cutlass/pipeline/sm90_pipeline.hpp"
#include "cutlass/util/print_error.hpp"
using namespace cute;

template <class T, class Tile>
struct Storage {
  alignas(128) ArrayEngine<T, cosize_v<Tile>> data;
  uint64_t barrier;
};

template <class T, class Tile, class Tma, class Out>
__global__ void tile(CUTE_GRID_CONSTANT Tma const tma, Tile, Out out, Shape<int, int> shape) {
  extern __shared__ char memory[];
  auto &storage = *reinterpret_cast<Storage<T, Tile> *>(memory);
  auto there = tma.get_tma_tensor(shape);
  auto mine = local_tile(there, Shape<_32, _64>{}, make_coord(blockIdx.x, blockIdx.y));
  auto staged = make_tensor(make_smem_ptr(storage.data.begin()), Tile{});
  auto [from, to] = tma_partition(tma, Int<0>{}, Layout<_1>{}, group_modes<0, 2>(staged), group_modes<0, 2>(mine));
  if (threadIdx.x == 0) {
    initialize_barrier(storage.barrier, 1);
    cutlass::arch::fence_barrier_init();
    set_barrier_transaction_bytes(storage.barrier, sizeof(T) * size(Tile{}));
    copy(tma.with(storage.barrier), from, to);
  }
  __syncthreads();
  wait_barrier(storage.barrier, 0);
  auto target = local_tile(out, Shape<_32, _64>{}, make_coord(blockIdx.x, blockIdx.y));
  for (int i = threadIdx.x; i < size(target); i += blockDim.x) target(i) = staged(i);
}

int main() {
  half_t *x, *y;
  cudaMallocManaged(&x, 64 * 128 * 2);
  cudaMallocManaged(&y, 64 * 128 * 2);
  for (int i = 0; i < 64 * 128; ++i) x[i] = half_t(float(i % 1000));
  auto in = make_tensor(x, make_layout(make_shape(64, 128), LayoutRight{}));
  auto out = make_tensor(make_gmem_ptr(y), make_layout(make_shape(64, 128), LayoutRight{}));
  auto layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_32, _64>{});
  auto tma = make_tma_atom(SM90_TMA_LOAD{}, in, layout, Shape<_32, _64>{});
  auto kernel = &tile<half_t, decltype(layout), decltype(tma), decltype(out)>;
  cutlass::ClusterLaunchParams how{dim3(2, 2), dim3(64), dim3(2, 1), sizeof(Storage<half_t, decltype(layout)>)};
  auto shape = Shape<int, int>{64, 128};
  auto status = cutlass::launch_kernel_on_cluster(how, (void const *)kernel, tma, layout, out, shape);
  CUTE_CHECK_LAST();
  int wrong = 0;
  for (int i = 0; i < 64 * 128; ++i) wrong += x[i] != y[i];
  printf("%s %d %d\n", cutlass::cutlassGetStatusString(status), wrong, __CUDACC_VER_MAJOR__);
}
"""


@installed
@pytest.mark.slow
@pytest.mark.skipif(build.compiler() is None, reason="needs a C++ compiler: install g++ or clang++")
def test_a_whole_program(tmp_path):
    (tmp_path / "tile.cu").write_text(PROGRAM)
    command = [sys.executable, "-W", "ignore", "-m", "vgpu", "run", "--gpu", "H100", "-arch", "sm_90a", "tile.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.stdout == "Success 0 13\n", done.stderr


@installed
@pytest.mark.parametrize(("gpu", "letter"), [("A100", ()), ("H100", ("-arch=sm_90a",)), ("B200", ("-arch=sm_100a",))])
def test_options_are_what_cupy_on_a_gpu_needs(gpu, letter):
    device(gpu)
    try:
        folder, *more = cute_options()
    finally:
        device.reset()
    assert folder.startswith("-I") and tuple(more) == letter
    assert folder.removeprefix("-I") in cuda_c.include_folders()


def test_what_to_do_without_the_headers(monkeypatch):
    without = tuple(folder for folder in cuda_c.include_folders() if "cutlass" not in folder)
    monkeypatch.setattr(cuda_c, "include_folders", lambda: without)
    with pytest.raises(CompileError, match="pip install --no-deps nvidia-cutlass"):
        cuda_c.cuda_c_to_ptx("#include <cute/tensor.hpp>\n", arch="compute_80", name="nowhere.cu")
    monkeypatch.setattr("vgpu.compile.cute.packaged", lambda folder, header: None)
    with pytest.raises(Unsupported, match="pip install --no-deps nvidia-cutlass"):
        cute_options()
