extern "C" __global__ void softmax(const float* x, float* out, int rows, int n, float scale) {
    int lane = threadIdx.x & 31, row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row < rows) {
        const float* from = x + (long long)row * n;
        float v[32], m = scale * from[0], sum = 0;
        #pragma unroll
        for (int k = 0; k < 32; ++k)
            if (lane + 32 * k < n) {
                v[k] = from[lane + 32 * k] * scale;
                m = max(m, v[k]);
            }
        for (int d = 1; d < 32; d *= 2) m = max(m, __shfl_xor_sync(~0u, m, d));
        #pragma unroll
        for (int k = 0; k < 32; ++k)
            if (lane + 32 * k < n) sum += v[k] = __expf(v[k] - m);
        for (int d = 1; d < 32; d *= 2) sum += __shfl_xor_sync(~0u, sum, d);
        sum = __frcp_rn(sum);
        #pragma unroll
        for (int k = 0; k < 32; ++k)
            if (lane + 32 * k < n) out[row * n + lane + 32 * k] = v[k] * sum;
    }
}
