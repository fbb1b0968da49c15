__shared__ float left[64][16], right[16][64];

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
    int t = 16 * threadIdx.y + threadIdx.x, over = t % 64, up = t / 64 * 16;
    float sum[16] = {};
    for (int first = 0; first < k; first += 16) {
        load_tiles(a, b, m, k, n, first);
        __syncthreads();
        for (int j = 0; j < 16; ++j) {
            float v = right[j][over];
            for (int i = 0; i < 16; ++i) sum[i] += left[up + i][j] * v;
        }
        __syncthreads();
    }
    for (int i = 0; i < 16; ++i) {
        int row = 64 * blockIdx.y + up + i, column = 64 * blockIdx.x + over;
        if (row < m && column < n) c[row * n + column] = sum[i];
    }
}
