#include <cuda_fp8.h>
extern "C" __global__ void quantise(const float* x, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = make_float4(0, 0, 0, 0);
    if (4 * i < n) v = *(const float4*)(x + 4 * i);
    float m = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 1));
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 2));
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 4));
    int e;
    frexpf(m, &e);
    e = m > 0 ? max(e - 9, -127) : -127;
    float s = exp2f(-e);
    if (4 * i >= n) return;
    __nv_fp8x4_e4m3 four(make_float4(v.x * s, v.y * s, v.z * s, v.w * s));
    *(unsigned*)(out + 4 * i) = four.__x;
    if (threadIdx.x % 8 == 7) out[n + i / 8] = 127 + e;
}
