template <int BITS, int BASE, int SHIFT>
__device__ int swizzle(int place) {
    return place ^ ((place >> (BASE + SHIFT) & ((1 << BITS) - 1)) << BASE);
}

extern "C" __global__ void turned(const float* x, float* out, int rows, int columns) {
    __shared__ float tile[1024];
    const float* from = x + 32 * blockIdx.y * columns + 32 * blockIdx.x;
    float* to = out + 32 * blockIdx.x * rows + 32 * blockIdx.y;
    for (int n = threadIdx.x + 32 * threadIdx.y; n < 1024; n += 256)
        tile[swizzle<5, 0, 5>(n)] = from[n / 32 * columns + n % 32];
    __syncthreads();
    for (int n = threadIdx.x + 32 * threadIdx.y; n < 1024; n += 256)
        to[n / 32 * rows + n % 32] = tile[swizzle<5, 0, 5>(n % 32 * 32 + n / 32)];
}
