extern "C" __global__ void product(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[8][65], right[8][64];
    int x = threadIdx.x, y = threadIdx.y, t = 16 * y + x, top = 64 * blockIdx.y, side = 64 * blockIdx.x;
    float sum[16] = {};
    for (int first = 0; first < k; first += 8) {
        for (int e = t; e < 512; e += 256) {
            int r = e / 8, j = e % 8;
            left[j][r] = top + r < m && first + j < k ? a[(top + r) * k + first + j] : 0;
            r = e % 64, j = e / 64;
            right[j][r] = side + r < n && first + j < k ? b[(first + j) * n + side + r] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
            float u[4], v[4];
            #pragma unroll
            for (int i = 0; i < 4; ++i) u[i] = left[j][y + 16 * i], v[i] = right[j][x + 16 * i];
            #pragma unroll
            for (int i = 0; i < 16; ++i) sum[i] = fmaf(u[i / 4], v[i % 4], sum[i]);
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
        int row = top + y + i / 4 * 16, column = side + x + i % 4 * 16;
        if (row < m && column < n) c[row * n + column] = sum[i];
    }
}
