extern "C" __global__ void softmax(const float* x, float* out, int rows, int n, float scale) {
    int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    float v[32], m = -3.4e38f, sum = 0;
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
        v[k] = lane + 32 * k < n ? 1.44269504f * scale * x[row * n + lane + 32 * k] : -3.4e38f;
        m = fmaxf(m, v[k]);
    }
    for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_down_sync(0xffffffff, m, d));
    m = __shfl_sync(0xffffffff, m, 0);
    #pragma unroll
    for (int k = 0; k < 32; ++k) sum += v[k] = exp2f(v[k] - m);
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    float share = 1 / __shfl_sync(0xffffffff, sum, 0);
    #pragma unroll
    for (int k = 0; k < 32; ++k)
        if (lane + 32 * k < n) out[row * n + lane + 32 * k] = v[k] * share;
}
