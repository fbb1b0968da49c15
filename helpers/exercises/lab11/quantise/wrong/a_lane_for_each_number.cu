#include <cuda_fp8.h>
__device__ unsigned char code(float v) { return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3); }

extern "C" __global__ void quantise(const float* x, unsigned char* out, int n) {
    for (int part = 0; part < 4; ++part) {
        int i = 4 * blockIdx.x * blockDim.x + part * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float v = x[i], m = fabsf(v);
        for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
        int e = m == 0 ? -127 : max(ilogbf(m) - 8, -127);
        out[i] = __nv_cvt_float_to_fp8(v * ldexpf(1, -e), __NV_SATFINITE, __NV_E4M3);
        if (i % 32 == 0) out[n + i / 32] = e + 127;
    }
}
