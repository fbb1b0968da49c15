#include <cuda_fp16.h>
extern "C" __global__ void softmax(const half* x, half* out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float largest = __half2float(x[row]), sum = 1;
    for (int k = 1; k < columns; ++k) {
        float value = __half2float(x[k * rows + row]), now = fmaxf(largest, value);
        sum = sum * expf(largest - now) + expf(value - now);
        largest = now;
    }
    for (int k = 0; k < columns; ++k)
        out[k * rows + row] = __float2half(expf(__half2float(x[k * rows + row]) - largest) / sum);
}
