#include <cuda_fp16.h>
extern "C" __global__ void stats(const half* x, float* out, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    double s = 0, s2 = 0;
    for (int i = lane; i < n / 8; i += 32) {
        uint4 eight = ((const uint4*)(x + row * n))[i];
        for (int j = 0; j < 8; ++j) {
            double v = __half2float(((const half*)&eight)[j]);
            s += v;
            s2 += v * v;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        s += __shfl_xor_sync(0xffffffff, s, d);
        s2 += __shfl_xor_sync(0xffffffff, s2, d);
    }
    if (lane == 1) out[2 * row] = s / n;
    if (lane == 2) out[2 * row + 1] = 1 / sqrt(s2 / n - s / n * (s / n) + 1e-5);
}
