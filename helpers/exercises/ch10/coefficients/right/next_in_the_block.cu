extern "C" __global__ void evaluate(const float* x, const float* coefficients, float* out, int terms, int n) {
    int i = blockIdx.x * 4 * blockDim.x + threadIdx.x, step = blockDim.x;
    float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    float va = i < n ? x[i] : 0.0f;
    float vb = i + step < n ? x[i + step] : 0.0f;
    float vc = i + 2 * step < n ? x[i + 2 * step] : 0.0f;
    float vd = i + 3 * step < n ? x[i + 3 * step] : 0.0f;
    for (const float* p = coefficients; p < coefficients + terms; ++p) {
        float coefficient = *p;
        a = fmaf(a, va, coefficient);
        b = fmaf(b, vb, coefficient);
        c = fmaf(c, vc, coefficient);
        d = fmaf(d, vd, coefficient);
    }
    if (i < n) out[i] = a;
    if (i + step < n) out[i + step] = b;
    if (i + 2 * step < n) out[i + 2 * step] = c;
    if (i + 3 * step < n) out[i + 3 * step] = d;
}
