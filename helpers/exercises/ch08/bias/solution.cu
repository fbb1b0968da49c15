extern "C" __global__
void add_bias(const float* x, const float* bias, float* out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    int first = 8 * blockIdx.y;
    float b = bias[column];
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        int row = first + k;
        if (row < rows)
            out[row * columns + column] = x[row * columns + column] + b;
    }
}
