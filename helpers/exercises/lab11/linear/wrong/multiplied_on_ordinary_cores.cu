#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void linear(const signed char* x, const signed char* w, const float* sx, const float* sw,
                                  float* y, int m, int k, int n) {
    __shared__ int left[32][17], right[32][17];
    int t = threadIdx.x, top = 32 * blockIdx.y, side = 32 * blockIdx.x, column = t % 16, row = t / 16;
    int sum[4][2] = {};
    for (int first = 0; first < k; first += 64) {
        for (int e = t; e < 512; e += 128) {
            left[e / 16][e % 16] = *(const int*)&x[(top + e / 16) * k + first + e % 16 * 4];
            right[e / 16][e % 16] = *(const int*)&w[(side + e / 16) * k + first + e % 16 * 4];
        }
        __syncthreads();
        for (int j = 0; j < 16; ++j)
            for (int i = 0; i < 4; ++i)
                for (int l = 0; l < 2; ++l)
                    sum[i][l] = __dp4a(left[row + 8 * i][j], right[column + 16 * l][j], sum[i][l]);
        __syncthreads();
    }
    float scale[2] = {sw[side + column], sw[side + column + 16]};
    for (int i = 0; i < 4; ++i) {
        float s = sx[top + row + 8 * i];
        for (int l = 0; l < 2; ++l) y[(top + row + 8 * i) * n + side + column + 16 * l] = sum[i][l] * s * scale[l];
    }
}
