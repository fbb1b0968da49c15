#include <cuda_fp16.h>
extern "C" __global__ void unscale(const half* g, float* out, int n, float scale) {
    bool bad = false;
    int lane = threadIdx.x % 32, all = gridDim.x * blockDim.x;
    for (int first = blockIdx.x * blockDim.x + threadIdx.x - lane; 4 * first < n; first += all) {
        int i = first + lane;
        float v[4] = {};
        if (4 * i < n) {
            uint2 four = __ldg((const uint2*)g + i);
            for (int j = 0; j < 4; ++j) v[j] = __half2float(((half*)&four)[j]);
        }
        for (int j = 0; j < 4; ++j) bad |= isinf(v[j]) || v[j] != v[j];
        if (4 * i < n) ((float4*)out)[i] = make_float4(v[0] / scale, v[1] / scale, v[2] / scale, v[3] / scale);
    }
    bool any = __syncthreads_or(__any_sync(0xffffffff, bad));
    if (any && threadIdx.x == 0) atomicExch(out + n, 1.0f);
}
