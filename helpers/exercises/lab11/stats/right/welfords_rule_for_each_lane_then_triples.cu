#include <cuda_fp16.h>
extern "C" __global__ void stats(const half* x, float* out, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float count = 0, mean = 0, squares = 0;
    for (int i = lane; i < n / 8; i += 32) {
        uint4 eight = ((const uint4*)(x + row * n))[i];
        for (int j = 0; j < 8; ++j) {
            float v = __half2float(((const half*)&eight)[j]), d = v - mean;
            count += 1;
            mean += d / count;
            squares += d * (v - mean);
        }
    }
    for (int k = 1; k < 32; k *= 2) {
        float c = __shfl_xor_sync(0xffffffff, count, k), m = __shfl_xor_sync(0xffffffff, mean, k);
        float s = __shfl_xor_sync(0xffffffff, squares, k), all = count + c, d = m - mean;
        if (all > 0) {
            mean += d * c / all;
            squares += s + d * d * count * c / all;
        }
        count = all;
    }
    if (lane == 0) {
        out[2 * row] = mean;
        out[2 * row + 1] = 1 / sqrtf(squares / n + 1e-5f);
    }
}
