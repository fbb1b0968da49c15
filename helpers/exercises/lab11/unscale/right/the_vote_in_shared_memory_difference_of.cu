#include <cuda_fp16.h>
extern "C" __global__ void unscale(const half* g, float* out, int n, float scale) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    float check = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; 4 * i < n; i += gridDim.x * blockDim.x) {
        half2 h[2];
        *(uint2*)h = *(const uint2*)(g + 4 * i);
        float2 a = __half22float2(h[0]), b = __half22float2(h[1]);
        check += (a.x - a.x) + (a.y - a.y) + (b.x - b.x) + (b.y - b.y);
        *(float4*)(out + 4 * i) = make_float4(a.x / scale, a.y / scale, b.x / scale, b.y / scale);
    }
    if (!(check == 0)) atomicOr(&found, 1);
    __syncthreads();
    if (threadIdx.x == 31 && found) atomicMax((int*)&out[n], __float_as_int(1.0f));
}
