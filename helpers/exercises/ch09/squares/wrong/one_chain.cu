extern "C" __global__ void squares(const float* x, float* out, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < rows; ++k) {
        float v = x[k * n + i];
        sum += v * v;
    }
    out[i] = sum;
}
