#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void linear(const signed char* __restrict__ x, const signed char* __restrict__ w,
                                  const float* __restrict__ sx, const float* __restrict__ sw,
                                  float* __restrict__ y, int m, int k, int n) {
    __shared__ __align__(32) signed char left[4][32][16], right[4][32][16];
    __shared__ int out[32][36];
    int t = threadIdx.x, up = t / 64 * 16, over = t / 32 % 2 * 16, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int first = 0; first < k; first += 64) {
        for (int e = t; e < 256; e += 128) {
            int r = e / 8, j = e % 8;
            *(int2*)&left[j / 2][r][j % 2 * 8] = *(const int2*)&x[(top + r) * k + first + 8 * j];
            *(int2*)&right[j / 2][r][j % 2 * 8] = *(const int2*)&w[(side + r) * k + first + 8 * j];
        }
        __syncthreads();
        for (int j = 0; j < 4; ++j) {
            wmma::load_matrix_sync(a, left[j][up], 16);
            wmma::load_matrix_sync(b, right[j][over], 16);
            wmma::mma_sync(sum, a, b, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[up][over], sum, 36, wmma::mem_row_major);
    __syncthreads();
    for (int r = t / 32; r < 32; r += 4)
        y[(top + r) * n + side + t % 32] = out[r][t % 32] * (sx[top + r] * sw[side + t % 32]);
}
