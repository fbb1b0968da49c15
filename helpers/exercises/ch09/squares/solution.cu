extern "C" __global__ void squares(const float* x, float* out, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (i >= n) return;
    float sum[4] = {};
    for (; k + 4 <= rows; k += 4)
        for (int j = 0; j < 4; ++j) {
            float v = x[(k + j) * n + i];
            sum[j] += v * v;
        }
    for (; k < rows; ++k) {
        float v = x[k * n + i];
        sum[0] += v * v;
    }
    out[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
