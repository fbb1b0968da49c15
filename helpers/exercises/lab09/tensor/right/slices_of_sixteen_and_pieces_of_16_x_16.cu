#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int k, int n) {
    __shared__ __align__(32) half left[2][16][16], right[2][16][16];
    __shared__ __align__(32) float out[4][16][16];
    int t = threadIdx.x, w = t / 32, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    int la = t % 16, lb = t % 32, rows = m - top, columns = n - side;
    for (int first = 0; first < k; first += 16) {
        for (int r = t / 16; r < 32; r += 8)
            left[r / 16][r % 16][la] = r < rows && first + la < k ? a[(top + r) * k + first + la] : half(0.0f);
        for (int r = t / 32; r < 16; r += 4)
            right[lb / 16][r][lb % 16] = lb < columns && first + r < k ? b[(first + r) * n + side + lb] : half(0.0f);
        __syncthreads();
        wmma::load_matrix_sync(fa, &left[w / 2][0][0], 16);
        wmma::load_matrix_sync(fb, &right[w % 2][0][0], 16);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[w][0][0], sum, 16, wmma::mem_row_major);
    __syncthreads();
    for (int r = t / 32; r < min(32, rows); r += 4)
        if (lb < columns) c[(top + r) * n + side + lb] = out[r / 16 * 2 + lb / 16][r % 16][lb % 16];
}
