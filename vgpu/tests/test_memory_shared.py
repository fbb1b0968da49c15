"""Shared memory: what idle lanes hold hides nothing, and what the system reserves is known to be zero."""

import numpy as np
import pytest

from vgpu.standins import cupy as cp
from vgpu.tools.sanitize import sanitize

i4, u4 = np.int32, np.uint32


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
