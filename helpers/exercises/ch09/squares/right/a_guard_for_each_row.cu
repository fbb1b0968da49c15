extern "C" __global__ void squares(const float* x, float* out, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float a = 0, b = 0, c = 0, d = 0;
        for (int k = 0; k < rows; k += 4) {
            float u = x[k * n + i];
            float v = k + 1 < rows ? x[(k + 1) * n + i] : 0;
            float w = k + 2 < rows ? x[(k + 2) * n + i] : 0;
            float z = k + 3 < rows ? x[(k + 3) * n + i] : 0;
            a = fmaf(u, u, a);
            b = fmaf(v, v, b);
            c = fmaf(w, w, c);
            d = fmaf(z, z, d);
        }
        out[i] = a + b + c + d;
    }
}
