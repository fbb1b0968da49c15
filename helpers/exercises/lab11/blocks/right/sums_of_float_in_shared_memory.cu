#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void blocks(const signed char* x, const signed char* w, const float* sx, const float* sw,
                                  float* y, int m, int k, int n) {
    __shared__ __align__(32) signed char tiles[2][4][32][16];
    __shared__ int out[32][36];
    __shared__ float total[32][32], scales[32];
    int t = threadIdx.x, up = t / 64 * 16, over = t / 32 % 2 * 16, slices = k / 64;
    int top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    for (int e = t; e < 1024; e += 128) total[e / 32][e % 32] = 0;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    for (int slice = 0; slice < slices; ++slice) {
        *(uint4*)tiles[0][t % 4][t / 4] = *(const uint4*)&x[(top + t / 4) * k + slice * 64 + t % 4 * 16];
        *(uint4*)tiles[1][t % 4][t / 4] = *(const uint4*)&w[(side + t / 4) * k + slice * 64 + t % 4 * 16];
        if (t < 32) scales[t] = sx[(top + t) * slices + slice] * sw[blockIdx.x * slices + slice];
        __syncthreads();
        wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
        wmma::fill_fragment(sum, 0);
        for (int j = 0; j < 4; ++j) {
            wmma::load_matrix_sync(a, tiles[0][j][up], 16);
            wmma::load_matrix_sync(b, tiles[1][j][over], 16);
            wmma::mma_sync(sum, a, b, sum);
        }
        wmma::store_matrix_sync(&out[up][over], sum, 36, wmma::mem_row_major);
        __syncthreads();
        for (int e = t; e < 1024; e += 128) total[e / 32][e % 32] += out[e / 32][e % 32] * scales[e / 32];
        __syncthreads();
    }
    for (int e = t; e < 1024; e += 128) y[(top + e / 32) * n + side + e % 32] = total[e / 32][e % 32];
}
