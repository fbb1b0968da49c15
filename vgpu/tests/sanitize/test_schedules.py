"""Sanitizing under random schedules, and launches whose blocks wait for one another."""

import numpy as np
import pytest

from vgpu import sanitize
from vgpu.base import schedule
from vgpu.standins import cupy as cp
from vgpu.tests.sanitize.gallery_host import LAST
from vgpu.tests.sanitize.test_sanitize import BEYOND

LOOK_BACK = """
extern "C" __global__ void k(const int* a, int* sums, int* ready, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x, b = blockIdx.x;
    s[t] = a[32 * b + t];
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 32; ++i) sum += s[i];
        if (b > 0) {
            while (atomicAdd(&ready[b - 1], 0) == 0) {}
            FENCE
            sum += sums[b - 1];
        }
        sums[b] = sum;
        FENCE
        atomicExch(&ready[b], 1);
        *s = sum;
    }
    __syncthreads();
    out[32 * b + t] = *s;
}"""


def last(*options):
    return cp.RawKernel(LAST, "k", options=options), (cp.arange(64, dtype=cp.int32), cp.zeros(1, cp.int32))


def test_a_result_that_varies_is_a_hint_and_the_first_run_stays():
    kernel, args = last("-DWRONG")
    found = sanitize(kernel, 64, 32, args, seeds=(1, 2, 3))
    (hint,) = found
    assert found.ok and hint.kind == "schedule" and hint.level == "hint" and hint.array == "best"
    assert hint.what.startswith("`best` differs between seed 1 and seed ")
    assert repr(found).startswith("sanitizer: k (random schedules, seeds 1, 2, 3): 1 hint")
    kernel, again = last("-DWRONG")
    with schedule.scheduled("random", 1):
        assert not sanitize(kernel, 64, 32, again)
    assert int(args[1][0]) == int(again[1][0])


def test_every_run_begins_with_the_same_memory():
    source = 'extern "C" __global__ void k(int* x) { x[threadIdx.x] += 1; }'
    x = cp.zeros(32, cp.int32)
    assert not sanitize(cp.RawKernel(source, "k"), 1, 32, (x,), seeds=(5, 6))
    assert cp.asnumpy(x).tolist() == [1] * 32


def test_variables_of_the_module_are_restored_too():
    source = """__device__ int calls;
    extern "C" __global__ void k(int* x) { x[0] = ++calls; }"""
    x = cp.zeros(1, cp.int32)
    assert not sanitize(cp.RawKernel(source, "k"), 1, 1, (x,), seeds=(1, 2, 3))
    assert int(x[0]) == 1


def test_findings_of_several_runs_are_put_together():
    a, out = cp.arange(40, dtype=cp.float32), cp.zeros(40, cp.float32)
    found = sanitize(cp.RawKernel(BEYOND, "k"), 2, 32, (a, out), seeds=(1, 2))
    assert [(f.kind, f.array, f.count) for f in found] == [("out_of_bounds", "a", 24), ("out_of_bounds", "out", 24)]


def test_bad_schedules():
    kernel, args = last()
    with pytest.raises(ValueError, match="sequential"):
        sanitize(kernel, 1, 1, args, schedule="sideways")
    with pytest.raises(ValueError, match="several"):
        sanitize(kernel, 1, 1, args, seed=1, seeds=(2, 3))


@pytest.mark.parametrize("options", [{}, {"seed": 1}, {"seed": 2}], ids=str)
def test_blocks_that_wait_for_one_another_are_watched(options):
    a = np.random.default_rng(1).integers(0, 99, (12, 32)).astype(np.int32)
    for fence, wanted in (("__threadfence();", ()), ("", ("race_read_write",))):
        kernel = cp.RawKernel(LOOK_BACK.replace("FENCE", fence), "k")
        args = cp.asarray(a), cp.zeros(12, cp.int32), cp.zeros(12, cp.int32), cp.zeros(12 * 32, cp.int32)
        found = sanitize(kernel, 12, 32, args, races_in_global=True, **options)
        assert found.kinds == wanted and found.ran_to_end, repr(found)
        if not wanted:
            np.testing.assert_array_equal(cp.asnumpy(args[3]).reshape(12, 32)[:, 0], a.sum(1).cumsum())


def test_a_block_that_fails_leaves_the_others_going():
    source = """
    extern "C" __global__ void k(volatile int* flag, int* out) {
        if (blockIdx.x == 0) { while (*flag == 0) {} out[0] = 7; }
        else if (blockIdx.x == 1) __trap();
        else { out[blockIdx.x] = 7; *flag = 1; }
    }"""
    out = cp.zeros(4, cp.int32)
    found = sanitize(cp.RawKernel(source, "k"), 4, 1, (cp.zeros(1, cp.int32), out))
    assert found.kinds == ("trap",)
    assert cp.asnumpy(out).tolist() == [7, 0, 7, 7]


def test_a_cooperative_launch_too_large_to_watch_says_so():
    source = 'extern "C" __global__ void k(int* x) { x[0] = 1; }'
    kernel = cp.RawKernel(source, "k", enable_cooperative_groups=True)
    with pytest.raises(Exception, match="at most 128 blocks"):
        sanitize(kernel, 129, 32, (cp.zeros(1, cp.int32),))
