extern "C" __global__ void four(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    if (i + 3 * all < n) {
        float a0 = x[i], a1 = x[i + all], a2 = x[i + 2 * all], a3 = x[i + 3 * all];
        float b0 = y[i], b1 = y[i + all], b2 = y[i + 2 * all], b3 = y[i + 3 * all];
        out[i] = 3 * a0 + b0; out[i + all] = 3 * a1 + b1;
        out[i + 2 * all] = 3 * a2 + b2; out[i + 3 * all] = 3 * a3 + b3;
    } else
        for (int k = i; k < n; k += all) out[k] = 3 * x[k] + y[k];
}
