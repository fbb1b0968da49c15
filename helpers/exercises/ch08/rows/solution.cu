extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    int row = order[t];
    float sum = 0.0f;
    for (int k = first[row]; k < first[row + 1]; ++k) sum += x[k];
    out[row] = sum;
}
