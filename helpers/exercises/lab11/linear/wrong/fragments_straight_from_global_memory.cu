#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void linear(const signed char* x, const signed char* w, const float* sx, const float* sw,
                                  float* y, int m, int k, int n) {
    __shared__ int out[32][36];
    int t = threadIdx.x, up = t / 64 * 16, over = t / 32 % 2 * 16;
    int top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int j = 0; j < k; j += 16) {
        wmma::load_matrix_sync(a, x + (top + up) * k + j, k);
        wmma::load_matrix_sync(b, w + (side + over) * k + j, k);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(&out[up][over], sum, 36, wmma::mem_row_major);
    __syncthreads();
    for (int r = t / 32; r < 32; r += 4) {
        int row = top + r, column = side + t % 32;
        y[row * n + column] = out[r][t % 32] * sx[row] * sw[column];
    }
}
