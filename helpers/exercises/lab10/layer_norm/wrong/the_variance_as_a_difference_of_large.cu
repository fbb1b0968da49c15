extern "C" __global__ void layer_norm(const float* x, const float* weight, const float* bias,
                                      float* y, int n, float eps) {
    __shared__ float row[2048], part[8];  // the row of this block, and a sum for each of its warps
    int t = threadIdx.x, r = blockIdx.x;
float sum = 0, squares = 0, total = 0, both = 0;
    for (int i = t; i < n; i += 256) {
        row[i] = x[r * n + i];
        sum += row[i];
        squares += row[i] * row[i];
    }
    __shared__ float more[8];
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
        squares += __shfl_xor_sync(0xffffffff, squares, d);
    }
    if (t % 32 == 0) part[t / 32] = sum, more[t / 32] = squares;
    __syncthreads();
    for (int w = 0; w < 8; ++w) total += part[w], both += more[w];
    float m = total / n, s = rsqrtf(fmaxf(both / n - m * m, 0) + eps);
    for (int i = t; i < n; i += 256) y[r * n + i] = (row[i] - m) * s * weight[i] + bias[i];
}
