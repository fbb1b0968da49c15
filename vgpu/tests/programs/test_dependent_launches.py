"""Programmatic dependent launch in CUDA C++ programs: results, and what `trace` says of a kernel that doesn't wait."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vgpu.programs.cuda_c import build

pytestmark = pytest.mark.skipif(build.compiler() is None, reason="needs a C++ compiler: install g++ or clang++")

PROGRAM = """\
#include <cstdio>
__global__ void first(int *x) {
    x[threadIdx.x] = threadIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
}
__device__ void met() { WAIT; }
__global__ void second(const int *x, int *y, int n) {
    met();
    if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x];
}
int main() {
    int *x, *y, h[32];
    cudaMalloc(&x, 128);
    cudaMalloc(&y, 128);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    first<<<1, 32, 0, stream>>>(x);
    cudaLaunchAttribute early[1];
    early[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early[0].val.programmaticStreamSerializationAllowed = ALLOWED;
    cudaLaunchConfig_t how = {};
    how.gridDim = 1;
    how.blockDim = 32;
    how.stream = stream;
    how.attrs = early;
    how.numAttrs = 1;
    cudaError_t status = cudaLaunchKernelEx(&how, second, (const int *)x, y, 32);
    cudaMemcpyAsync(h, y, 128, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    printf("%s %d\\n", cudaGetErrorString(status), h[31]);
}
"""


def trace(folder, wait: str, allowed: str) -> tuple[int, str]:
    (folder / "program.cu").write_text(PROGRAM.replace("WAIT", wait).replace("ALLOWED", allowed))
    command = [sys.executable, "-W", "ignore", "-m", "vgpu", "trace", "--gpu", "H100", "program.cu"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout


@pytest.mark.parametrize(("wait", "allowed"), [("cudaGridDependencySynchronize()", "1"), ("", "0")])
def test_a_kernel_that_waits_or_may_not_begin_early_follows(tmp_path, wait, allowed):
    status, shown = trace(tmp_path, wait, allowed)
    assert status == 0 and "no error 62" in shown and "No hazards" in shown


def test_a_kernel_that_may_begin_early_and_does_not_wait(tmp_path):
    status, shown = trace(tmp_path, "", "1")
    assert status == 1 and "no error 62" in shown
    assert "read after write: second (1 block) in stream 1 and first (1 block)" in shown
    assert "of `x`, and nothing orders them" in shown and "call cudaGridDependencySynchronize()" in shown
