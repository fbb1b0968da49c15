#include <cuda_fp4.h>
#include <cuda_fp8.h>
extern "C" __global__ void nvfp4(const float* x, unsigned char* out, float unit, int n) {
    for (int part = 0; part < 2; ++part) {
        int i = 2 * blockIdx.x * blockDim.x + part * blockDim.x + threadIdx.x;
        bool inside = 2 * i < n;
        float a = inside ? x[2 * i] : 0, b = inside ? x[2 * i + 1] : 0;
        float m = fmaxf(fabsf(a), fabsf(b));
        for (int d = 4; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
        __nv_fp8_e4m3 scale(fmaxf(m / 6 / unit, 0x1p-9f));
        float s = unit * float(scale);
        if (!inside) continue;
        out[i] = __nv_cvt_float2_to_fp4x2(make_float2(a / s, b / s), __NV_E2M1, cudaRoundNearest);
        if (i % 8 == 0) out[n / 2 + i / 8] = scale.__x;
    }
}
