extern "C" __global__
void four(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[4], w[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k * all < n) {
            v[k] = x[i + k * all];
            w[k] = y[i + k * all];
        }
    #pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k * all < n) out[i + k * all] = 3 * v[k] + w[k];
}
