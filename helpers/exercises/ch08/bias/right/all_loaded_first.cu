extern "C" __global__
void add_bias(const float* x, const float* bias, float* out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, at = 8 * blockIdx.y * columns + column;
    int left = rows - 8 * blockIdx.y;
    if (column >= columns) return;
    float b = bias[column], v[8];
    #pragma unroll
    for (int k = 0; k < 8; ++k) if (k < left) v[k] = x[at + k * columns];
    #pragma unroll
    for (int k = 0; k < 8; ++k) if (k < left) out[at + k * columns] = v[k] + b;
}
