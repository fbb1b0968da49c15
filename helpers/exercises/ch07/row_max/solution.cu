extern "C" __global__
void row_max(const float* x, float* out, int n) {
    __shared__ float s[4];
    int t = threadIdx.x;
    const float* row = x + blockIdx.x * n;
    float best = row[0];
    for (int i = t; i < n; i += blockDim.x) best = fmaxf(best, row[i]);
    for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
    if (t % 32 == 0) s[t / 32] = best;
    __syncthreads();
    if (t < 32) {
        best = s[t % 4];
        for (int d = 2; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
        if (t == 0) out[blockIdx.x] = best;
    }
}
