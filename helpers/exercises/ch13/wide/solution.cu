extern "C" __global__ void wide(const float* a, const float* b, float* c, int n) {
    __shared__ float4 tile_a[32][8], tile_b[32][8];
    float* in_a = reinterpret_cast<float*>(tile_a);
    int t = threadIdx.x, x = t % 8, y = t / 8;
    int row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + 4 * x;
    float sum[4] = {};
    for (int start = 0; start < n; start += 32) {
        tile_a[y][x] = *reinterpret_cast<const float4*>(&a[row * n + start + 4 * x]);
        tile_b[y][x] = *reinterpret_cast<const float4*>(&b[(start + y) * n + column]);
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            float left = in_a[y * 32 + k];
            float4 right = tile_b[k][x];
            sum[0] += left * right.x;
            sum[1] += left * right.y;
            sum[2] += left * right.z;
            sum[3] += left * right.w;
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) c[row * n + column + j] = sum[j];
}
