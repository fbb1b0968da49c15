"""The compiler's numbers without a run: those that a profile gives, on every GPU."""

import numpy as np
import pytest

from vgpu import cp, cuda, profile
from vgpu.hardware.gpus import GPUS
from vgpu.tools.compiled import assembled_for, compiled


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]


RAW = r"""
extern "C" __global__ void scale(const float* x, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
"""
KERNELS = {"numba": lambda: scale, "cuda": lambda: cp.RawKernel(RAW, "scale", ("-maxrregcount=24",))}


@pytest.mark.parametrize("language", KERNELS)
def test_it_says_what_a_profile_says_and_runs_nothing(language):
    x, out = cp.ones(64, np.float32), cp.zeros(64, np.float32)
    found = compiled(KERNELS[language](), 1, 64, (x, out))
    assert not out.any()
    counted = profile(KERNELS[language](), 1, 64, (x, out))
    for gpu in GPUS.values():
        assert found.on(gpu) == counted.on(gpu.name).resources
    assert found.max_registers == counted.max_registers == {"numba": None, "cuda": 24}[language]


def test_the_oldest_architecture_stands_in_for_older_ones():
    assert [assembled_for(GPUS[name]) for name in ("V100", "T4", "A100")] == ["sm_75", "sm_75", "sm_80"]
