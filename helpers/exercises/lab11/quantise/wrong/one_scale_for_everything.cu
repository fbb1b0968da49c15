#include <cuda_fp8.h>
__device__ unsigned char code(float v) { return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3); }

extern "C" __global__ void quantise(const float* x, unsigned char* out, int n) {
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < min(first + 4, n); ++i) {
        out[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E4M3);
        if (i % 32 == 0) out[n + i / 32] = 127;
    }
}
