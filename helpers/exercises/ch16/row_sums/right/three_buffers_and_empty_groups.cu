#include <cuda_pipeline_primitives.h>
extern "C" __global__ void row_sums(const float4* __restrict__ x, float* out, int tiles) {
    __shared__ float4 s[3][32];
    int t = threadIdx.x;
    const float4* row = x + (size_t)blockIdx.x * tiles * 32 + t;
    float sum = 0;
    for (int i = 0; i < 2; ++i) {
        if (i < tiles) __pipeline_memcpy_async(&s[i][t], row + 32 * i, sizeof(float4));
        __pipeline_commit();
    }
    for (int i = 0; i < tiles; ++i) {
        if (i + 2 < tiles) __pipeline_memcpy_async(&s[(i + 2) % 3][t], row + 32 * (i + 2), sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(2);
        float4 v = s[i % 3][t];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (!t) out[blockIdx.x] = sum;
}
