#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int k, int n) {
    __shared__ half left[4][16][24], right[4][16][24];
    __shared__ float out[4][16][20];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    int top = 32 * blockIdx.y + w / 2 * 16, side = 32 * blockIdx.x + w % 2 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < k; first += 16) {
        for (int e = lane; e < 256; e += 32) {
            int r = e / 16, l = e % 16;
            left[w][r][l] = top + r < m && first + l < k ? a[(top + r) * k + first + l] : half(0.0f);
            right[w][r][l] = first + r < k && side + l < n ? b[(first + r) * n + side + l] : half(0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, &left[w][0][0], 24);
        wmma::load_matrix_sync(fb, &right[w][0][0], 24);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(&out[w][0][0], sum, 20, wmma::mem_row_major);
    __syncwarp();
    for (int e = lane; e < 256; e += 32) {
        int r = e / 16, l = e % 16;
        if (top + r < m && side + l < n) c[(top + r) * n + side + l] = out[w][r][l];
    }
}
