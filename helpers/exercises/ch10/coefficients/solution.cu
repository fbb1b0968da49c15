extern "C" __global__ void evaluate(const float* x, const float* coefficients, float* out, int terms, int n) {
    int stride = gridDim.x * blockDim.x;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    float v[4], r[4] = {};
    for (int j = 0; j < 4; ++j) {
        int i = first + j * stride;
        v[j] = i < n ? x[i] : 0.0f;
    }
    for (int k = 0; k < terms; ++k) {
        float c = coefficients[k];
        for (int j = 0; j < 4; ++j) r[j] = r[j] * v[j] + c;
    }
    for (int j = 0; j < 4; ++j) {
        int i = first + j * stride;
        if (i < n) out[i] = r[j];
    }
}
