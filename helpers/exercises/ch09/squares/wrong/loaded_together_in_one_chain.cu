extern "C" __global__ void squares(const float* x, float* out, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (i >= n) return;
    float sum = 0;
    for (; k + 4 <= rows; k += 4) {
        float a = x[k * n + i], b = x[(k + 1) * n + i], c = x[(k + 2) * n + i], d = x[(k + 3) * n + i];
        sum += a * a;
        sum += b * b;
        sum += c * c;
        sum += d * d;
    }
    for (; k < rows; ++k)
        sum += x[k * n + i] * x[k * n + i];
    out[i] = sum;
}
