#include <cuda_fp16.h>
extern "C" __global__ void unscale(const half* g, float* out, int n, float scale) {
    int bad = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        ushort4 four = ((const ushort4*)g)[i];
        bad |= (four.x & 0x7c00) == 0x7c00 || (four.y & 0x7c00) == 0x7c00;
        bad |= (four.z & 0x7c00) == 0x7c00 || (four.w & 0x7c00) == 0x7c00;
        ((float4*)out)[i] = make_float4(
            __half2float(__ushort_as_half(four.x)) / scale, __half2float(__ushort_as_half(four.y)) / scale,
            __half2float(__ushort_as_half(four.z)) / scale, __half2float(__ushort_as_half(four.w)) / scale);
    }
    bad = __syncthreads_count(bad);
    if (bad > 0 && threadIdx.x == 0) out[n] = 1;
}
