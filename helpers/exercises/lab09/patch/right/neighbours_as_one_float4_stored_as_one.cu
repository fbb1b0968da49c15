__shared__ float left[64][17], right[16][64];
__device__ void load_tiles(const float* a, const float* b, int m, int k, int n, int first) {
    int t = 16 * threadIdx.y + threadIdx.x, top = 64 * blockIdx.y, side = 64 * blockIdx.x;
    for (int e = t; e < 1024; e += 256) {
        int row = top + e / 16, j = first + e % 16;
        left[e / 16][e % 16] = row < m && j < k ? a[row * k + j] : 0;
    }
    for (int e = t; e < 1024; e += 256) {
        int j = first + e / 64, column = side + e % 64;
        right[e / 64][e % 64] = j < k && column < n ? b[j * n + column] : 0;
    }
}
extern "C" __global__ void product(const float* a, const float* b, float* c, int m, int k, int n) {
    int x = threadIdx.x, y = threadIdx.y;
    float sum[4][4] = {};
    for (int first = 0; first < k; first += 16) {
        load_tiles(a, b, m, k, n, first);
        __syncthreads();
        for (int j = 0; j < 16; ++j) {
            float4 v = *(float4*)&right[j][4 * x];
            for (int i = 0; i < 4; ++i) {
                float u = left[4 * y + i][j];
                sum[i][0] += u * v.x; sum[i][1] += u * v.y; sum[i][2] += u * v.z; sum[i][3] += u * v.w;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        int row = 64 * blockIdx.y + 4 * y + i, column = 64 * blockIdx.x + 4 * x;
        if (row >= m) continue;
        if (n % 4 == 0 && column < n)
            *(float4*)&c[row * n + column] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        else
            for (int l = 0; l < 4; ++l) if (column + l < n) c[row * n + column + l] = sum[i][l];
    }
}
