#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int k, int n) {
    __shared__ half left[32][40], right[32][40];
    __shared__ float out[32][36];
    int t = threadIdx.x, up = t / 64 * 16, over = t / 32 % 2 * 16, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < k; first += 32) {
        for (int r = t / 32, l = t % 32; r < 32; r += 4) {
            left[r][l] = top + r < m && first + l < k ? a[(top + r) * k + first + l] : half(0.0f);
            right[l][r] = first + r < k && side + l < n ? b[(first + r) * n + side + l] : half(0.0f);
        }
        __syncthreads();
        for (int j = 0; j < 32; j += 16) {
            wmma::load_matrix_sync(fa, &left[up][j], 40);
            wmma::load_matrix_sync(fb, &right[over][j], 40);
            wmma::mma_sync(sum, fa, fb, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[over][up], sum, 36, wmma::mem_col_major);
    __syncthreads();
    for (int r = t / 32, l = t % 32; r < 32; r += 4)
        if (top + r < m && side + l < n) c[(top + r) * n + side + l] = out[l][r];
}
