"""Kernels that real programs taught us: each holds on both engines what one of them once got wrong."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

from __future__ import annotations

import numpy as np
import pytest

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
