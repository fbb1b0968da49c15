extern "C" __global__ void evaluate(const float* x, const float* coefficients, float* out, int terms, int n) {
    int stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    float r[4] = {}, v[4] = {};
    for (int j = 0; j < 4 && first + j * stride < n; ++j)
        v[j] = x[first + j * stride];
    int done = 0;
    for (; done + 8 <= terms; done += 8) {
        float c[8];
        for (int k = 0; k < 8; ++k) c[k] = coefficients[done + k];
        for (int j = 0; j < 4; ++j)
            for (int k = 0; k < 8; ++k) r[j] = r[j] * v[j] + c[k];
    }
    for (; done < terms; ++done) {
        float c = coefficients[done];
        for (int j = 0; j < 4; ++j) r[j] = r[j] * v[j] + c;
    }
    for (int j = 0; j < 4 && first + j * stride < n; ++j)
        out[first + j * stride] = r[j];
}
