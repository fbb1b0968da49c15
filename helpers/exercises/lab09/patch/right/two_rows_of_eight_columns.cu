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
    int t = 16 * threadIdx.y + threadIdx.x, x = t % 8, y = t / 8;
    float sum[2][8] = {};
    for (int first = 0; first < k; first += 16) {
        load_tiles(a, b, m, k, n, first);
        __syncthreads();
        for (int j = 0; j < 16; ++j) {
            float u[2] = {left[y][j], left[y + 32][j]};
            for (int l = 0; l < 8; ++l) {
                float v = right[j][x + 8 * l];
                sum[0][l] += u[0] * v;
                sum[1][l] += u[1] * v;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int l = 0; l < 8; ++l) {
            int row = 64 * blockIdx.y + y + 32 * i, column = 64 * blockIdx.x + x + 8 * l;
            if (row < m && column < n) c[row * n + column] = sum[i][l];
        }
}
