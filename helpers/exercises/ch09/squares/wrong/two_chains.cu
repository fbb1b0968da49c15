extern "C" __global__ void squares(const float* x, float* out, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (i >= n) return;
    float even = 0, odd = 0;
    for (; k + 2 <= rows; k += 2) {
        float v = x[k * n + i], w = x[(k + 1) * n + i];
        even += v * v;
        odd += w * w;
    }
    if (k < rows) even += x[k * n + i] * x[k * n + i];
    out[i] = even + odd;
}
