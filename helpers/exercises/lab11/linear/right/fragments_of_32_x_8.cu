#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void linear(const signed char* x, const signed char* w, const float* sx, const float* sw,
                                  float* y, int m, int k, int n) {
    __shared__ __align__(32) signed char left[4][32][16], right[4][32][16];
    __shared__ __align__(32) int out[32][32];
    int t = threadIdx.x, over = t / 32 * 8, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 32, 8, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int first = 0; first < k; first += 64) {
        *(uint4*)left[t % 4][t / 4] = *(const uint4*)&x[(top + t / 4) * k + first + t % 4 * 16];
        *(uint4*)right[t % 4][t / 4] = *(const uint4*)&w[(side + t / 4) * k + first + t % 4 * 16];
        __syncthreads();
        for (int j = 0; j < 4; ++j) {
            wmma::load_matrix_sync(a, left[j][0], 16);
            wmma::load_matrix_sync(b, right[j][over], 16);
            wmma::mma_sync(sum, a, b, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[0][over], sum, 32, wmma::mem_row_major);
    __syncthreads();
    float scale = sw[side + t % 32];
    for (int r = t / 32; r < 32; r += 4) y[(top + r) * n + side + t % 32] = sx[top + r] * out[r][t % 32] * scale;
}
