#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int k, int n) {
    __shared__ __align__(32) char bytes[32 * 40 * 4];
    half (*left)[40] = (half (*)[40])bytes, (*right)[40] = left + 32;
    float (*out)[40] = (float (*)[40])bytes;
    int t = threadIdx.x, w = t / 32, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2];
    wmma::fill_fragment(sum[0], 0.0f);
    wmma::fill_fragment(sum[1], 0.0f);
    for (int first = 0; first < k; first += 32) {
        for (int r = t / 32, l = t % 32; r < 32; r += 4) {
            left[r][l] = top + r < m && first + l < k ? a[(top + r) * k + first + l] : half(0.0f);
            right[r][l] = first + r < k && side + l < n ? b[(first + r) * n + side + l] : half(0.0f);
        }
        __syncthreads();
        if (w < 2)
            for (int j = 0; j < 32; j += 16) {
                wmma::load_matrix_sync(fb, &right[j][16 * w], 40);
                for (int i = 0; i < 2; ++i) {
                    wmma::load_matrix_sync(fa, &left[16 * i][j], 40);
                    wmma::mma_sync(sum[i], fa, fb, sum[i]);
                }
            }
        __syncthreads();
    }
    if (w < 2)
        for (int i = 0; i < 2; ++i) wmma::store_matrix_sync(&out[16 * i][16 * w], sum[i], 40, wmma::mem_row_major);
    __syncthreads();
    for (int r = t / 32, l = t % 32; r < 32; r += 4)
        if (top + r < m && side + l < n) c[(top + r) * n + side + l] = out[r][l];
}
