extern "C" __global__
void grad_weight(const float* grad, const float* x, const float* r, float* grad_weight, int rows, int columns) {
    for (long long column = blockIdx.x * blockDim.x + threadIdx.x; column < columns; column += gridDim.x * blockDim.x) {
        float even = 0, odd = 0;
        for (int row = 0; row < rows; row += 2) {
            even += grad[row * (long long)columns + column] * x[row * (long long)columns + column] * r[row];
            if (row + 1 < rows)
                odd += grad[(row + 1LL) * columns + column] * x[(row + 1LL) * columns + column] * r[row + 1];
        }
        grad_weight[column] = even + odd;
    }
}
