#include <cuda_pipeline_primitives.h>
extern "C" __global__ void row_sums(const float4* x, float* out, int tiles) {
    __shared__ float4 s[2][32];
    int t = threadIdx.x;
    const float4* row = x + blockIdx.x * tiles * 32;
    float sum = 0;
    __pipeline_memcpy_async(&s[0][t], &row[t], 16);
    __pipeline_commit();
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles)
            __pipeline_memcpy_async(&s[(i + 1) % 2][t], &row[32 * (i + 1) + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        float4 four = s[i % 2][t];
        sum += four.x + four.y + four.z + four.w;
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (t == 0)
        out[blockIdx.x] = sum;
}
