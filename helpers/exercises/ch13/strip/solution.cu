extern "C" __global__ void strip(const float* a, const float* b, float* c, int m, int n, int depth) {
    __shared__ float tile_a[32][32], tile_b[32][32];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, first = blockIdx.y * 32;
    float sum[4] = {};
    for (int start = 0; start < depth; start += 32) {
        for (int i = y; i < 32; i += 8) {
            tile_a[i][x] = first + i < m && start + x < depth ? a[(first + i) * depth + start + x] : 0.0f;
            tile_b[i][x] = start + i < depth && column < n ? b[(start + i) * n + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            float right = tile_b[k][x];
            for (int i = 0; i < 4; ++i) sum[i] += tile_a[y + 8 * i][k] * right;
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        if (first + y + 8 * i < m && column < n) c[(first + y + 8 * i) * n + column] = sum[i];
}
