extern "C" __global__ void evaluate(const float* x, const float* coefficients, float* out, int terms, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 2 * stride) {
        int other = i + stride;
        float v = x[i], w = other < n ? x[other] : 0.0f, r = 0.0f, s = 0.0f;
        for (int k = 0; k < terms; ++k) {
            float c = coefficients[k];
            r = r * v + c;
            s = s * w + c;
        }
        out[i] = r;
        if (other < n) out[other] = s;
    }
}
