extern "C" __global__ void squares(const float* x, float* out, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float total = 0, sum[8] = {};
    int each = (rows + 7) / 8;
    for (int k = 0; k < each; ++k)
        for (int part = 0; part < 8; ++part) {
            int row = part * each + k;
            if (row < rows) sum[part] += x[row * n + i] * x[row * n + i];
        }
    for (int part = 0; part < 8; ++part) total += sum[part];
    out[i] = total;
}
