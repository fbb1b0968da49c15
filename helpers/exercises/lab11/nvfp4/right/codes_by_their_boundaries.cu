#include <cuda_fp8.h>
__device__ unsigned code(float v) {
    float a = fabsf(v);
    unsigned size = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f) + (a >= 3.5f) + (a > 5.0f);
    return size | (v < 0 ? 8 : 0);
}
extern "C" __global__ void nvfp4(const float* x, unsigned char* out, float unit, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[4] = {};
    if (4 * i < n) *(float4*)v = ((const float4*)x)[i];
    float m = 0;
    for (int j = 0; j < 4; ++j) m = max(m, abs(v[j]));
    for (int d = 1; d < 4; d *= 2) m = max(m, __shfl_xor_sync(0xffffffff, m, d));
    __nv_fp8_e4m3 scale(max(m / (6 * unit), 0x1p-9f));
    unsigned four = 0;
    for (int j = 0; j < 4; ++j) four |= code(v[j] / (float(scale) * unit)) << (4 * j);
    if (4 * i >= n) return;
    ((unsigned short*)out)[i] = four;
    if (i % 4 == 0) out[n / 2 + i / 4] = scale.__x;
}
