#include <cuda_fp16.h>
extern "C" __global__ void softmax(const half* x, half* out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float largest = __half2float(x[row]);
    for (int k = 1; k < columns; ++k) largest = fmaxf(largest, __half2float(x[k * rows + row]));
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += expf(__half2float(x[k * rows + row]) - largest);
    for (int k = 0; k < columns; ++k)
        out[k * rows + row] = __float2half(expf(__half2float(x[k * rows + row]) - largest) / sum);
}
