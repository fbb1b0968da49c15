#include <cuda_fp16.h>
extern "C" __global__ void softmax(const half* x, half* out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    half sum = __float2half(0.0f);
    for (int k = 0; k < columns; ++k) sum = __hadd(sum, hexp(x[k * rows + row]));
    for (int k = 0; k < columns; ++k) out[k * rows + row] = __hdiv(hexp(x[k * rows + row]), sum);
}
