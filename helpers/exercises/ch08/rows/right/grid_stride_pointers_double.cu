struct Range { const float *begin, *end; };
__device__ Range row_of(const int* first, const float* x, int r) { return {x + first[r], x + first[r + 1]}; }
extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < rows; t += gridDim.x * blockDim.x) {
        int r = order[t];
        Range p = row_of(first, x, r);
        double sum = 0;
        while (p.begin != p.end) sum += *p.begin++;
        out[r] = (float)sum;
    }
}
