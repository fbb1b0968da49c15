#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void linear(const signed char* x, const signed char* w, const float* sx, const float* sw,
                                  float* y, int m, int k, int n) {
    __shared__ __align__(32) signed char tiles[2][2][32][16];
    __shared__ __align__(32) int out[4][16][16];
    __shared__ float scales[64];
    int t = threadIdx.x, w4 = t / 32, lane = t % 32, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    if (t < 32) scales[t] = sx[top + t]; else if (t < 64) scales[t] = sw[side + t - 32];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    const signed char* from = t < 64 ? x + (top + t / 2) * k : w + (side + t / 2 - 32) * k;
    for (int first = 0; first < k; first += 32) {
        *(uint4*)tiles[t / 64][t % 2][t / 2 % 32] = *(const uint4*)(from + first + t % 2 * 16);
        __syncthreads();
        for (int j = 0; j < 2; ++j) {
            wmma::load_matrix_sync(a, tiles[0][j][w4 / 2 * 16], 16);
            wmma::load_matrix_sync(b, tiles[1][j][w4 % 2 * 16], 16);
            wmma::mma_sync(sum, a, b, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[w4][0][0], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = lane; e < 256; e += 32) {
        int r = w4 / 2 * 16 + e / 16, c = w4 % 2 * 16 + e % 16;
        y[(top + r) * n + side + c] = out[w4][e / 16][e % 16] * scales[r] * scales[32 + c];
    }
}
