extern "C" __global__
void score_gradient(const float* s, const float* L, const float* dp, const float* D, float* ds,
                    int queries, int keys) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < queries * keys) {
        int row = i / keys;
        ds[i] = expf(s[i] - L[row]) * (dp[i] - D[row]);
    }
}
