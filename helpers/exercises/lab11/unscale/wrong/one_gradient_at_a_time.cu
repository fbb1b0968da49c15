#include <cuda_fp16.h>
extern "C" __global__ void unscale(const half* g, float* out, int n, float scale) {
    bool bad = false;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = __half2float(g[i]);
        bad = bad || !isfinite(v);
        out[i] = v / scale;
    }
    if (__syncthreads_or(bad) && threadIdx.x == 0) atomicExch(&out[n], 1.0f);
}
