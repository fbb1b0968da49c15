extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    for (int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32; r < rows; r += warps) {
        float sum = 0;
        for (int k = first[r] + lane; k < first[r + 1]; k += 32) sum += x[k];
        for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0) out[r] = sum;
    }
}
