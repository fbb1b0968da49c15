#include <cuda_fp4.h>
#include <cuda_fp8.h>
extern "C" __global__ void nvfp4(const float* x, unsigned char* out, float unit, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool inside = 4 * i < n;
    float4 v = inside ? ((const float4*)x)[i] : make_float4(0, 0, 0, 0);
    float m = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    for (int d = 2; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
    __nv_fp8_e4m3 scale(fmaxf(m / 6 / unit, 0x1p-9f));
    float s = unit * float(scale);
    if (!inside) return;
    out[2 * i] = __nv_cvt_float2_to_fp4x2(make_float2(v.x / s, v.y / s), __NV_E2M1, cudaRoundNearest);
    __threadfence_block();
    out[2 * i + 1] = __nv_cvt_float2_to_fp4x2(make_float2(v.z / s, v.w / s), __NV_E2M1, cudaRoundNearest);
    if (i % 4 == 0) out[n / 2 + i / 4] = scale.__x;
}
