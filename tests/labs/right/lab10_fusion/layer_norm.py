"""Right answers to lab10.layer_norm by routes other than the solution's."""

KEY = "lab10.layer_norm"

ROWS = [
    # which way, the solution cell
    (
        "two places for sums, so that one barrier is saved",
        '''LAYER_NORM = r"""
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
}"""
layer_norm = cp.RawKernel(LAYER_NORM, "layer_norm")''',
    ),
    (
        "the row in registers, eight elements a thread",
        '''LAYER_NORM = r"""
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
}"""
layer_norm = cp.RawKernel(LAYER_NORM, "layer_norm")''',
    ),
]
