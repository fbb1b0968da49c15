"""The explorer of traffic: bytes of a launch as its tile grows, for kernels of both languages."""

import numpy as np
import pytest

from helpers import Launch, cp, cuda, widgets

N = 32
COPY = r"""
extern "C" __global__ void again(const float* x, float* out, int times) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < times; ++k) sum += ((const volatile float*)x)[i];
    out[i] = sum;
}
"""


@cuda.jit
def numba_strided(x, out, times):
    i = cuda.grid(1)
    out[i] = x[i * times]


def launch_cuda(times):
    x, out = cp.zeros(N, np.float32), cp.zeros(N, np.float32)
    return Launch(cp.RawKernel(COPY, "again"), 1, N, (x, out, np.int32(times)))


def launch_numba(times):
    return Launch(numba_strided, 1, N, (cp.zeros(8 * N, np.float32), cp.zeros(N, np.float32), times))


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (launch_cuda, "times 4: sectors bring 0.5 KiB for 0.5 KiB asked for, 4 times the 0.125 KiB"),
        (launch_numba, "times 4: sectors bring 0.5 KiB for 0.125 KiB asked for, 1 times the 0.5 KiB"),
    ],
    ids=["cuda", "numba"],
)
def test_it_tells_asked_brought_and_distinct_bytes_apart(launch, words):
    explorer = widgets.traffic(launch, times=(1, 2, 4))
    assert explorer.shown.alt.startswith("times 1: sectors bring 0.125 KiB for 0.125 KiB asked for, 1 times")
    explorer.controls["times"].value = 4
    assert explorer.shown.alt == f"{words} that even a perfect cache must fetch."


def test_the_axis_holds_still_for_all_choices():
    explorer = widgets.traffic(launch_cuda, times=(1, 4))
    first = explorer.draw(times=1).figure.axes[0].get_xlim()
    assert explorer.draw(times=4).figure.axes[0].get_xlim() == first
    assert first[1] > 0.5
