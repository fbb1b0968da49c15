extern "C" __global__
void row_sums(const int* __restrict__ first, const float* __restrict__ x,
              const int* __restrict__ order, float* out, int rows) {
    const int t = threadIdx.x + blockDim.x * blockIdx.x;
    if (t < rows) {
        const int row = __ldg(&order[rows - 1 - t]);
        const int end = __ldg(&first[row + 1]);
        float s = 0;
        #pragma unroll 4
        for (int k = __ldg(&first[row]); k < end; k++) s += __ldg(&x[k]);
        out[row] = s;
    }
}
