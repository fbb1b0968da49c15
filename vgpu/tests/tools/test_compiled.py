"""The compiler's numbers without a run: those that a profile gives, on every GPU."""

import numpy as np
import pytest

from vgpu import cp, cuda, profile, sass
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
    assert found.kernel.max_registers == counted.kernel.max_registers == {"numba": None, "cuda": 24}[language]


def test_the_oldest_architecture_stands_in_for_older_ones():
    assert [assembled_for(GPUS[name]) for name in ("V100", "T4", "A100")] == ["sm_75", "sm_75", "sm_80"]


OWN = r"""
extern "C" __global__ void pack(const float* x, unsigned* out) {
    asm("{ .reg .b16 h; cvt.rn.satfinite.e2m3x2.f32 h, %1, %2; cvt.u32.u16 %0, h; }"
        : "=r"(out[threadIdx.x]) : "f"(x[threadIdx.x]), "f"(x[threadIdx.x]));
}
"""


def test_a_kernel_for_what_only_one_gpu_has_is_assembled_with_its_letter():
    gpu = next(gpu for gpu in GPUS.values() if gpu.arch == "sm_120")
    kernel = cp.RawKernel(OWN, "pack", ("-arch=compute_120a",))
    x, out = cp.ones(32, np.float32), cp.zeros(32, np.uint32)
    counted = profile(kernel, 1, 32, (x, out), device=gpu.name)
    assert counted.resources.arch == "sm_120a" and counted.resources.registers > 0
    assert "F2FP" in str(sass(kernel, 1, 32, (x, out), device=gpu))
    assert out.get().tolist() == [0x0808] * 32
