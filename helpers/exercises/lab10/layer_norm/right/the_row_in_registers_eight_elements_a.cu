extern "C" __global__ void layer_norm(const float* x, const float* weight, const float* bias,
                                      float* y, int n, float eps) {
    __shared__ float part[16];
    int t = threadIdx.x, r = blockIdx.x;
    float v[8], sum = 0, squares = 0;
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        v[k] = t + 256 * k < n ? x[r * n + t + 256 * k] : 0;
        sum += v[k];
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; ++w) sum += part[w];
    sum /= n;
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        v[k] -= sum;
        if (t + 256 * k < n) squares += v[k] * v[k];
    }
    for (int d = 16; d > 0; d /= 2) squares += __shfl_down_sync(0xffffffff, squares, d);
    if (t % 32 == 0) part[8 + t / 32] = squares;
    __syncthreads();
    squares = 0;
    for (int w = 8; w < 16; ++w) squares += part[w];
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        int i = t + 256 * k;
        if (i < n) y[r * n + i] = v[k] * rsqrtf(squares / n + eps) * weight[i] + bias[i];
    }
}
