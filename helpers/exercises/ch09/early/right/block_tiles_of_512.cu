extern "C" __global__ void four(const float* x, const float* y, float* out, int n) {
    int base = blockIdx.x * 512 + threadIdx.x;
    float a[4], b[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) { a[k] = x[min(base + 128 * k, n - 1)]; b[k] = y[min(base + 128 * k, n - 1)]; }
    #pragma unroll
    for (int k = 0; k < 4; k++) { int i = base + 128 * k; if (i < n) out[i] = 3 * a[k] + b[k]; }
}
