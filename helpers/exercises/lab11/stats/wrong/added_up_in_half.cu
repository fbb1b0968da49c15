#include <cuda_fp16.h>
extern "C" __global__ void stats(const half* x, float* out, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    half s = 0, s2 = 0;
    for (int i = lane; i < n; i += 32) {
        s += x[row * n + i];
        s2 += x[row * n + i] * x[row * n + i];
    }
    for (int d = 16; d > 0; d /= 2) {
        s += __shfl_xor_sync(0xffffffff, s, d);
        s2 += __shfl_xor_sync(0xffffffff, s2, d);
    }
    if (lane == 0) {
        float mean = __half2float(s) / n;
        out[2 * row] = mean;
        out[2 * row + 1] = rsqrtf(__half2float(s2) / n - mean * mean + 1e-5f);
    }
}
