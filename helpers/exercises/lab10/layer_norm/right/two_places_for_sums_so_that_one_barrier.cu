extern "C" __global__ void layer_norm(const float* x, const float* weight, const float* bias,
                                      float* y, int n, float eps) {
    __shared__ float row[2048], part[2][8];
    int t = threadIdx.x;
    x += (long long)blockIdx.x * n;
    y += (long long)blockIdx.x * n;
    float m = 0, v = 0;
    for (int i = t; i < n; i += blockDim.x) m += row[i] = x[i];
    for (int d = 1; d < 32; d *= 2) m += __shfl_xor_sync(~0u, m, d);
    part[0][t / 32] = m;
    __syncthreads();
    m = 0;
    for (int w = 0; w < 8; ++w) m += part[0][w] / n;
    for (int i = t; i < n; i += blockDim.x) {
        row[i] -= m;
        v += row[i] * row[i];
    }
    for (int d = 1; d < 32; d *= 2) v += __shfl_xor_sync(~0u, v, d);
    part[1][t / 32] = v;
    __syncthreads();
    v = 0;
    for (int w = 0; w < 8; ++w) v += part[1][w] / n;
    for (int i = t; i < n; i += blockDim.x) y[i] = row[i] / sqrtf(v + eps) * weight[i] + bias[i];
}
