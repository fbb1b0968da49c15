extern "C" __global__
void grad_weight(const float* grad, const float* x, const float* r, float* grad_weight, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0;
        for (int row = 0; row < rows; ++row) {
            long long i = row * (long long)columns + column;
            sum += grad[i] * x[i] * r[row];
        }
        grad_weight[column] = sum;
    }
}
