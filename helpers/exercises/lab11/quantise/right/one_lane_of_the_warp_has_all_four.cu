#include <cuda_fp8.h>
extern "C" __global__ void quantise(const float* x, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[4] = {};
    if (4 * i < n) *(float4*)v = ((const float4*)x)[i];
    float m = 0;
    for (int j = 0; j < 4; ++j) m = max(m, abs(v[j]));
    for (int d = 4; d > 0; d /= 2) m = max(m, __shfl_down_sync(0xffffffff, m, d, 8));
    m = __shfl_sync(0xffffffff, m, 0, 8);
    int e = m == 0.0f ? -127 : max(ilogbf(m) - 8, -127);
    int all = __shfl_sync(0xffffffff, e, threadIdx.x % 4 * 8);
    int group = i / 32 * 4 + threadIdx.x % 4;
    if (threadIdx.x % 32 < 4 && group < n / 32) out[n + group] = all + 127;
    uchar4 codes;
    unsigned char* code = (unsigned char*)&codes;
    for (int j = 0; j < 4; ++j) code[j] = __nv_cvt_float_to_fp8(ldexpf(v[j], -e), __NV_SATFINITE, __NV_E4M3);
    if (4 * i < n) ((uchar4*)out)[i] = codes;
}
