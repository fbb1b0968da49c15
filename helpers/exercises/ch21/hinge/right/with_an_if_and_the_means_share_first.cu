extern "C" __global__
void hinge(const float* x, const float* sign, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float share = 1.0f / n, s = sign[i], logit = x[i], loss = 0, slope = 0;
    if (s * logit < 1.0f) {
        loss = 1.0f - s * logit;
        slope = -s * share;
    }
    out[i] = loss;
    out[n + i] = slope;
}
