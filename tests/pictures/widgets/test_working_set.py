"""The explorer of working sets: kernels of both languages, sizes of array and cache that change."""

import numpy as np
import pytest

from helpers import cp, cuda, widgets

TWICE = r"""
extern "C" __global__ void twice(const float* x, float* out, int n) {
    float sum = 0;
    for (int r = 0; r < 2; ++r)
        for (int i = threadIdx.x; i < n; i += 32) sum += ((const volatile float*)x)[i];
    out[threadIdx.x] = sum;
}
"""


@cuda.jit
def numba_twice(x, out, n):
    total = np.float32(0)
    for _ in range(2):
        for i in range(cuda.threadIdx.x, n, 32):
            total += x[i]
    out[cuda.threadIdx.x] = total


def arguments(kib):
    return cp.ones(256 * kib, np.float32), cp.zeros(32, np.float32), np.int32(256 * kib)


@pytest.mark.parametrize("kernel", [cp.RawKernel(TWICE, "twice"), numba_twice], ids=["cuda", "numba"])
def test_a_round_is_found_if_the_array_fits(kernel):
    explorer = widgets.working_set({"twice": kernel}, arguments, array=(1, 2), cache=(1, 2), start=(2, 1))
    assert explorer.shown.alt == "A cache of 1 KiB (modelled): twice, 2 KiB: 0 of 128 sectors are found."
    explorer.controls["cache"].value = 2
    assert explorer.shown.alt == "A cache of 2 KiB (modelled): twice, 2 KiB: 64 of 128 sectors are found."
    explorer.controls["array"].value = 1
    assert explorer.shown.alt == "A cache of 2 KiB (modelled): twice, 1 KiB: 32 of 64 sectors are found."


def test_what_is_given_is_checked():
    with pytest.raises(TypeError, match="args is a function"):
        widgets.working_set(numba_twice, arguments(1), array=(1,), cache=(1,))
    with pytest.raises(ValueError, match="array, KiB cannot be 3"):
        widgets.working_set(numba_twice, arguments, array=(1, 2), cache=(1,), start=(3, 1))
