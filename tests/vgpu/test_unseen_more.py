"""Kernels that real programs taught us: each holds on both engines what one of them once got wrong."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.results.sanitize import sanitize
from helpers.vgpu.base.errors import LaunchError
from helpers.vgpu.launch import launch
from helpers.vgpu.standins import cupy as cp
from helpers.vgpu.standins import numba_cuda as cuda
from tests.vgpu.conftest import Launchable, prepare_c

f4, i4, u4 = np.float32, np.int32, np.uint32


# ---------------------------------------------------------------- lanes that are off


FAR = [-4, -8, 0x7FFFFFF0, 0x7FFFFFFC, 0x7FFFFFE0 + 64, -(2**31), -(2**31) + 8, 2**31 - 60]


@pytest.mark.parametrize("far", FAR)
def test_an_idle_lane_may_hold_any_shared_address(engine, far):
    """Lane 0 takes no part, and what it holds as its address is far from shared memory, where distances wrap."""
    kernel = engine.c("""
        extern "C" __global__ void k(int far, const int* in, int* out) {
            __shared__ int s[64];
            int t = threadIdx.x;
            unsigned base = (unsigned)__cvta_generic_to_shared(s);
            s[t] = in[t]; s[t + 32] = 7 * in[t];
            __syncthreads();
            for (int step = 0; step < 3; ++step) {
                unsigned at = t ? base + 4 * ((5 * t + step) & 63) : far + 4 * step; int v = 0;
                if (t & 1) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
                out[32 * step + t] = v;
                if (t & 1) asm volatile("st.shared.u32 [%0], %1;" :: "r"(at), "r"(v + step + 1) : "memory");
                __syncthreads();
            }
            out[96 + t] = s[t]; out[128 + t] = s[t + 32];
        }""")
    x = np.random.default_rng(1).integers(0, 1000, 32).astype(i4)
    out, s, t = np.zeros(160, i4), np.concatenate([x, 7 * x]), np.arange(1, 32, 2)
    counted = kernel(
        1, 32, i4(np.int64(far).astype(i4)), x, out, **({"observe": True} if engine.name == "compiled" else {})
    )
    for step in range(3):
        at = (5 * t + step) & 63
        want = np.zeros(32, i4)
        want[t] = s[at]
        np.testing.assert_array_equal(out[32 * step : 32 * step + 32], want)
        s[at] += step + 1
    np.testing.assert_array_equal(out[96:], s)
    if engine.name == "compiled":
        # Sixteen lanes with distinct banks: one wavefront a request, as for every access of this kernel.
        assert counted.total["shared_load_requests"] == counted.total["shared_load_wavefronts"] == 5
        assert counted.total["shared_store_requests"] == counted.total["shared_store_wavefronts"] == 5


def test_an_idle_lane_does_not_hide_an_access_outside_shared_memory(compiled):
    """A pattern learned beside an idle lane far away is still held to the end of shared memory."""
    kernel = compiled.c("""
        extern "C" __global__ void k(unsigned far, int last, int* out) {
            __shared__ int s[64];
            int t = threadIdx.x, v = 0;
            unsigned base = (unsigned)__cvta_generic_to_shared(s);
            s[t] = s[t + 32] = t;
            __syncthreads();
            for (int step = 0; step < last; ++step) {
                unsigned at = (t ? base + 4 * t : far) + 64 * step;
                if (t) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
                out[t] = v;
            }
        }""")
    for far in (-4, 2**31 + 32, 2**31 - 8):
        kernel(1, 32, u4(far & 0xFFFFFFFF), i4(3), np.zeros(32, i4))
        with pytest.raises(Exception, match="shared"):
            kernel(1, 32, u4(far & 0xFFFFFFFF), i4(4), np.zeros(32, i4))


# ---------------------------------------------------------------- groups


@pytest.mark.parametrize("arch", ["compute_75", "compute_80"])
def test_tiles_of_several_warps(engine, arch):
    """Groups of 64 threads reduce, vote and broadcast: from 8.0 on, through shared memory that the system reserves."""
    kernel = engine.c(
        """
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void k(const int* in, int* out) {
            __shared__ cg::block_tile_memory<256> scratch;
            __shared__ int after[256];
            cg::thread_block block = cg::this_thread_block(scratch);
            auto pair = cg::tiled_partition<64>(block);
            int i = block.thread_rank(), v = in[i];
            after[i] = v; pair.sync();
            int sum = cg::reduce(pair, v, cg::plus<int>()), most = cg::reduce(pair, v, cg::greater<int>());
            out[4 * i] = sum; out[4 * i + 1] = most;
            out[4 * i + 2] = pair.shfl(v, 40) + pair.any(v > 95) + 2 * pair.all(v >= 0);
            out[4 * i + 3] = after[i ^ 32] + 1000 * pair.meta_group_rank();
        }""",
        options=("-std=c++17",),
        arch=arch,
    )
    x = np.random.default_rng(5).integers(0, 100, 256).astype(i4)
    out = np.zeros((256, 4), i4)
    kernel(5, 256, x, out)
    pairs = x.reshape(4, 64)
    every = [pairs.sum(1), pairs.max(1), pairs[:, 40] + (pairs > 95).any(1) + 2]
    for column, wanted in enumerate(every):
        np.testing.assert_array_equal(out[:, column], np.repeat(wanted, 64))
    np.testing.assert_array_equal(out[:, 3], x[np.arange(256) ^ 32] + 1000 * (np.arange(256) // 64))


RESERVED = """
    .version 7.8
    .target sm_80
    .address_size 64
    .visible .entry k(.param .u64 out) {
        .reg .u64 %rd<5>; .reg .u32 %r<7>; .reg .pred %p;
        .shared .align 16 .b8 own[64];
        ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;
        mov.u32 %r1, %ctaid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r1, %r1, 32, %r6; mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd1, %rd1, %rd2;
        mov.u32 %r2, %reserved_smem_offset_1;
        shl.b32 %r3, %r6, 2; add.u32 %r3, %r3, %r2;
        atom.shared.add.u32 %r4, [%r3], 7;
        st.global.u32 [%rd1], %r4;
        ret;
    }
"""


def test_reserved_shared_memory_is_zero_for_each_block():
    """Counters in it start from nothing in every block, as the barriers of cooperative groups expect from 8.0 on."""
    for name in ("compiled", "reference"):
        (prepared,) = launch.load(RESERVED, language="cuda").values()
        out = np.ones(96, u4)
        Launchable(name, lambda arguments, kernel=prepared: prepare_c(kernel, arguments))(3, 32, out)
        np.testing.assert_array_equal(out, 0)


def test_the_sanitizer_knows_that_reserved_shared_memory_is_zero():
    kernel = cp.RawModule(
        code="""
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void k(int* out) {
            __shared__ cg::block_tile_memory<128> scratch;
            __shared__ int s[128];
            auto pair = cg::tiled_partition<64>(cg::this_thread_block(scratch));
            s[threadIdx.x] = threadIdx.x; pair.sync(); out[threadIdx.x] = s[threadIdx.x ^ 32];
        }""",
        options=("-std=c++17",),
    ).get_function("k")
    found = sanitize(kernel, 1, 128, (cp.zeros(128, i4),))
    assert not [f for f in found if f.kind == "uninitialised"]


# ---------------------------------------------------------------- Numba


def test_a_pointer_in_a_signature_takes_an_address():
    @cuda.jit("void(CPointer(float64), uint32)")
    def double(x, n):
        i = cuda.grid(1)
        if i < n:
            x[i] *= 2.0

    x = cuda.to_device(np.arange(40.0))
    double[2, 32](x.__cuda_array_interface__["data"][0], 40)
    np.testing.assert_array_equal(x.copy_to_host(), 2 * np.arange(40.0))


def test_how_many_blocks_can_wait_for_one_another():
    """A whole number a multiprocessor, fewer for larger blocks, and as many as a cooperative launch takes."""

    @cuda.jit("void(int32[::1])")
    def count(x):
        cuda.cg.this_grid().sync()
        cuda.atomic.add(x, 0, 1)

    (overload,) = count.overloads.values()
    most = overload.max_cooperative_grid_blocks((256, 2))
    assert most == overload.max_cooperative_grid_blocks(512) < overload.max_cooperative_grid_blocks(64)
    assert overload.max_cooperative_grid_blocks(512, 100_000) < most
    x = cuda.to_device(np.zeros(1, i4))
    count[3, 64](x)
    assert x.copy_to_host()[0] == 192
    # Refused before anything runs.
    with pytest.raises(LaunchError, match="cooperative"):
        count[most + 1, 512](x)
