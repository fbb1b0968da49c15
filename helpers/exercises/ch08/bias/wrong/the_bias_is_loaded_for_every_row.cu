extern "C" __global__
void add_bias(const float* x, const float* bias, float* out, int rows, int columns) {
int column = blockIdx.x * blockDim.x + threadIdx.x;
    int first = 8 * blockIdx.y;
    for (int row = first; row < first + 8; ++row)
        if (column < columns && row < rows)
            out[row * columns + column] = x[row * columns + column] + bias[column];
}
