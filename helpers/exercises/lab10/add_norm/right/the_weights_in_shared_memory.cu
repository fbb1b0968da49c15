__device__ float part(float v, int) { return v; }
__device__ float part(float4 v, int j) { return j == 0 ? v.x : j == 1 ? v.y : j == 2 ? v.z : v.w; }
__device__ void set(float& v, int, float to) { v = to; }
__device__ void set(float4& v, int j, float to) { (j == 0 ? v.x : j == 1 ? v.y : j == 2 ? v.z : v.w) = to; }

template <typename V> __device__ void rows_of(const float* x, const float* residual, const V* weight, float* out,
                                              long long stride, int rows, int columns, float eps) {
    constexpr int N = sizeof(V) / 4;
    __shared__ V weights[2048 / N];
    __shared__ float sums[4];
    for (int i = threadIdx.x; i < columns / N; i += 128) weights[i] = weight[i];
    for (long long r = blockIdx.x; r < rows; r += gridDim.x) {
        V held[16 / N];
        float squares = 0;
        for (int k = 0; k < 16 / N; ++k) {
            int i = threadIdx.x + 128 * k;
            if (i >= columns / N) break;
            V a = ((const V*)(x + r * stride))[i], b = ((const V*)(residual + r * columns))[i];
            for (int j = 0; j < N; ++j) {
                float sum = part(a, j) + part(b, j);
                set(held[k], j, sum);
                squares = fmaf(sum, sum, squares);
            }
            ((V*)(out + r * columns))[i] = held[k];
        }
        for (int step = 1; step < 32; step *= 2) squares += __shfl_xor_sync(~0u, squares, step);
        __syncthreads();
        if (threadIdx.x % 32 == 31) sums[threadIdx.x / 32] = squares;
        __syncthreads();
        float scale = 1 / sqrtf((sums[0] + sums[1] + sums[2] + sums[3]) / columns + eps);
        for (int k = 0; k < 16 / N; ++k) {
            int i = threadIdx.x + 128 * k;
            if (i >= columns / N) break;
            V w = weights[i];
            for (int j = 0; j < N; ++j) set(held[k], j, part(held[k], j) * scale * part(w, j));
            ((V*)(out + (rows + r) * columns))[i] = held[k];
        }
    }
}

extern "C" __global__ __launch_bounds__(128, 8)
void add_norm(const float* x, const float* residual, const float* weight, float* out, long long offset,
              long long stride, int rows, int columns, float eps) {
    if (((offset | stride | columns) & 3) == 0)
        rows_of<float4>(x + offset, residual, (const float4*)weight, out, stride, rows, columns, eps);
    else
        rows_of<float>(x + offset, residual, weight, out, stride, rows, columns, eps);
}
