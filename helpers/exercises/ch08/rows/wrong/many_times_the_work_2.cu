extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int row = 0; row < rows; ++row) {
            float sum = 0;
            for (int k = first[row]; k < first[row + 1]; ++k) sum += x[k];
            out[row] = sum;
        }
}
