extern "C" __global__
void hinge(const float* x, const float* sign, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float side = sign[i];
        float gap = 1.0f - side * x[i];
        out[i] = fmaxf(gap, 0.0f);
        out[n + i] = gap > 0.0f ? -side / n : 0.0f;
    }
}
