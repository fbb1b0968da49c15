"""Sums of counters by which budgets go: the same work by another instruction is as much."""

import pytest

from vgpu import cp, profile
from vgpu.launch.counters import KEYS
from vgpu.tools.counter_sums import BY_KEY, COUNTER_SUMS

WARPS = 4
KERNEL = r"""
extern "C" __global__ void k(float* x, float* out, int how) {
    __shared__ float s[128];
    __shared__ long long bar;
    __shared__ volatile int flag;
    int i = threadIdx.x;
    unsigned int b = __cvta_generic_to_shared(&bar), p = __cvta_generic_to_shared(s + i);
    if (i == 0) { flag = 0; asm volatile("mbarrier.init.shared.b64 [%0], 128;" :: "r"(b)); }
    __syncthreads();
    if (how == 0) out[i] = x[i];
    if (how == 1) out[i] = atomicAdd(x + i, 0.f);
    if (how == 2) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;" :: "r"(p), "l"(x + i) : "memory");
        out[i] = s[i];
    }
    if (how == 3) atomicExch(out + i, x[i]);
    if (how == 4) { s[i] = 1; __syncthreads(); }
    if (how == 5) {
        asm volatile("{ .reg .b64 t; .reg .pred p; mbarrier.arrive.shared.b64 t, [%0];\n"
                     "again: mbarrier.test_wait.shared.b64 p, [%0], t; @!p bra again; }" :: "r"(b) : "memory");
    }
    if (how == 6) { if (i == 127) flag = 1; while (!flag); }
    if (how == 7) { int n = 0; if (i == 127) flag = 1; while (!flag && n < 1 << 20) n++; if (n < 0) out[i] = n; }
}
"""


@pytest.fixture(scope="module")
def kernel():
    return cp.RawKernel(KERNEL, "k")


def counted(kernel, how: int):
    return profile(kernel, 1, 32 * WARPS, (cp.ones(128, "float32"), cp.zeros(128, "float32"), how))


@pytest.mark.parametrize("how", [0, 1, 2, 3])
def test_what_is_read_and_written_is_the_same_by_every_instruction(kernel, how):
    found = counted(kernel, how)
    updates = WARPS if how in (1, 3) else 0
    assert (found["global_read_requests"], found["global_read_sectors"]) == (WARPS, 4 * WARPS)
    # An atomic that reads writes as well.
    assert found["global_write_requests"] == WARPS * (2 if how == 1 else 1)
    assert found["global_update_requests"] == updates
    assert found["global_requests"] == 2 * WARPS == found.by_warp.requests.sum()


@pytest.mark.parametrize(("how", "least"), [(0, 0), (4, WARPS), (5, 2 * WARPS), (6, WARPS), (7, WARPS)])
def test_warps_that_wait_for_one_another_synchronise_whatever_they_wait_for(kernel, how, least):
    more = counted(kernel, how)["synchronisations"] - counted(kernel, 0)["synchronisations"]
    assert more >= least and (how or more == 0)


def test_bulk_copies_count_by_what_a_warp_moves_in_a_request():
    counts = {"bulk_load_bytes": 1024, "global_load_requests": 3, "global_load_sectors": 12}
    assert BY_KEY["global_read_requests"].of(counts) == 3 + 8
    assert BY_KEY["global_read_sectors"].of(counts) == 12 + 32


def test_sums_are_of_counters_that_there_are():
    assert {key for each in COUNTER_SUMS for key in each.weights} <= set(KEYS)
