#include <cuda_fp4.h>
#include <cuda_fp8.h>
__device__ float largest(float4 v) { return fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))); }

extern "C" __global__ void nvfp4(const float* x, unsigned char* out, float unit, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = 4 * i < n ? ((const float4*)x)[i] : make_float4(0, 0, 0, 0);
    float m = largest(v);
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 2));
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 1));
    __nv_fp8_e4m3 scale(fmaxf(m / 6 / unit, 0x1p-9f));
    float s = unit * float(scale);
    unsigned four = __nv_fp4x4_e2m1(make_float4(v.x / s, v.y / s, v.z / s, v.w / s)).__x;
    unsigned other = __shfl_down_sync(0xffffffff, four, 1);
    if (4 * i < n && i % 2 == 0) ((unsigned*)out)[i / 2] = four | other << 16;
    if (4 * i < n && i % 4 == 0) out[n / 2 + i / 4] = scale.__x;
}
