"""Tensor maps that a CUDA C++ program makes by the driver API, linked or asked for by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vgpu.programs.cuda_c import build

pytestmark = pytest.mark.skipif(build.compiler() is None, reason="needs a C++ compiler: install g++ or clang++")

PROGRAM = r"""
#include <cuda.h>
#include <cstdio>
#include <cstdint>
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__global__ void box(const __grid_constant__ CUtensorMap map, float *out) {
    __shared__ alignas(128) float tile[4 * 8];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(at(&bar)) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];"
                     ::"r"(at(tile)), "l"(&map), "r"(4), "r"(6), "r"(at(&bar)) : "memory");
    }
    __syncthreads();
    unsigned done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(at(&bar)) : "memory");
    while (!done);
    out[threadIdx.x] = tile[threadIdx.x];
}
namespace host {
typedef decltype(&cuTensorMapEncodeTiled) Encode;
CUresult encode(Encode function, CUtensorMap *map, float *x, cuuint64_t stride) {
    cuuint64_t sizes[] = {10, 8}, strides[] = {stride};
    cuuint32_t box[] = {8, 4}, steps[] = {1, 1};
    return function(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x, sizes, strides, box, steps,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
}  // namespace host
using host::encode;
int main() {
    float *x, *out;
    cudaMallocManaged(&x, 8 * 12 * sizeof(float));
    cudaMallocManaged(&out, 32 * sizeof(float));
    for (int i = 0; i < 8 * 12; i++) x[i] = i;
    void *found = nullptr, *other = nullptr;
    cudaDriverEntryPointQueryResult result;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    for (auto function : {&cuTensorMapEncodeTiled, (host::Encode)found}) {
        CUtensorMap map;
        CUresult made = encode(function, &map, x, 48);
        box<<<1, 32>>>(map, out);
        cudaError_t status = cudaDeviceSynchronize();
        printf("%d %d: %g %g %g %g\n", made, status, out[0], out[5], out[9], out[16]);
    }
    CUtensorMap map;
    printf("%d ", encode(&cuTensorMapEncodeTiled, &map, x, 40));
    cudaGetLastError();
    printf("%d\n", cudaGetDriverEntryPointByVersion("cuCtxCreate", &other, 12000, cudaEnableDefault, &result));
    const char *name, *text;
    for (CUresult error : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_ILLEGAL_ADDRESS, (CUresult)12345}) {
        CUresult named = cuGetErrorName(error, &name), known = cuGetErrorString(error, &text);
        printf("%d %s, %d %s\n", named, name ? name : "-", known, text ? text : "-");
    }
    printf("%s: %s\n", cudaGetErrorName(cudaErrorStreamCaptureMerge), cudaGetErrorString(cudaErrorNotReady));
    cudaGetDriverEntryPointByVersion("cuGetErrorString", &found, 12000, cudaEnableDefault, &result);
    printf("%d\n", found == (void *)cuGetErrorString);
}
"""


def test_a_program_with_a_tensor_map(tmp_path):
    (tmp_path / "program.cu").write_text(PROGRAM)
    command = [sys.executable, "-W", "ignore", "-m", "vgpu", "run", "--gpu", "H100", "-arch", "sm_90a", "program.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    # The box begins at row 6 and column 4: columns 4 to 9 of two rows, and zeros.
    assert done.stdout.splitlines() == [
        "0 0: 76 81 89 0", "0 0: 76 81 89 0", "1 801",
        "0 CUDA_ERROR_INVALID_VALUE, 0 invalid argument",
        "0 CUDA_ERROR_ILLEGAL_ADDRESS, 0 an illegal memory access was encountered", "1 -, 1 -",
        "cudaErrorStreamCaptureMerge: device not ready", "1",
    ], done.stderr  # fmt: skip
    assert "rows have to be a multiple of 16 bytes apart, and these are 40" in done.stderr
    assert (
        "cuCtxCreate: of the driver API there are cuTensorMapEncodeTiled, cuGetErrorName and cuGetErrorString"
        in done.stderr
    )
