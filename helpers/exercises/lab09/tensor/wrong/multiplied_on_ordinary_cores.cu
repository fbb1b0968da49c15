#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int k, int n) {
    __shared__ half left[32][40], right[32][40];
    int t = threadIdx.x, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    float sum[8] = {};
    for (int first = 0; first < k; first += 32) {
        for (int r = t / 32, l = t % 32; r < 32; r += 4) {
            left[r][l] = top + r < m && first + l < k ? a[(top + r) * k + first + l] : half(0.0f);
            right[r][l] = first + r < k && side + l < n ? b[(first + r) * n + side + l] : half(0.0f);
        }
        __syncthreads();
        for (int j = 0; j < 32; ++j)
            for (int i = 0; i < 8; ++i) sum[i] += float(left[t / 32 + 4 * i][j]) * float(right[j][t % 32]);
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        int row = top + t / 32 + 4 * i, column = side + t % 32;
        if (row < m && column < n) c[row * n + column] = sum[i];
    }
}
