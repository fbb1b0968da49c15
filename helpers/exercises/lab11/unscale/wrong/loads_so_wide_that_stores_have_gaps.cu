#include <cuda_fp16.h>
extern "C" __global__ void unscale(const half* g, float* out, int n, float scale) {
    float inverse = 1 / scale;
    bool bad = false;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 2 * t; i < n / 4; i += 2 * gridDim.x * blockDim.x) {
        for (int k = i; k < min(i + 2, n / 4); ++k) {
            uint2 four = ((const uint2*)g)[k];
            float2 a = __half22float2(*(half2*)&four.x), b = __half22float2(*(half2*)&four.y);
            bad = bad || !isfinite(a.x) || !isfinite(a.y) || !isfinite(b.x) || !isfinite(b.y);
            ((float4*)out)[k] = make_float4(a.x * inverse, a.y * inverse, b.x * inverse, b.y * inverse);
        }
    }
    if (__syncthreads_or(bad) && threadIdx.x == 0) atomicExch(&out[n], 1.0f);
}
