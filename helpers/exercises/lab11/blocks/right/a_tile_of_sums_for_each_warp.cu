#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void blocks(const signed char* x, const signed char* w, const float* sx, const float* sw,
                                  float* y, int m, int k, int n) {
    __shared__ __align__(32) signed char left[4][32][16], right[4][32][16];
    __shared__ __align__(32) int out[4][16][16];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, slices = k / 64;
    int top = 32 * blockIdx.y + warp / 2 * 16, side = 32 * blockIdx.x + warp % 2 * 16;
    const signed char* from_x = x + (32 * blockIdx.y + t / 4) * k + t % 4 * 16;
    const signed char* from_w = w + (32 * blockIdx.x + t / 4) * k + t % 4 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    float total[8];
    for (int i = 0; i < 8; ++i) total[i] = 0;
    for (int slice = 0; slice < slices; ++slice) {
        *(uint4*)left[t % 4][t / 4] = *(const uint4*)(from_x + slice * 64);
        *(uint4*)right[t % 4][t / 4] = *(const uint4*)(from_w + slice * 64);
        __syncthreads();
        wmma::fill_fragment(sum, 0);
        for (int j = 0; j < 4; ++j) {
            wmma::load_matrix_sync(a, left[j][warp / 2 * 16], 16);
            wmma::load_matrix_sync(b, right[j][warp % 2 * 16], 16);
            wmma::mma_sync(sum, a, b, sum);
        }
        wmma::store_matrix_sync(&out[warp][0][0], sum, 16, wmma::mem_row_major);
        __syncwarp();
        float scale = sw[blockIdx.x * slices + slice];
        for (int i = 0; i < 8; ++i)
            total[i] += out[warp][2 * i + lane / 16][lane % 16]
                * sx[(top + 2 * i + lane / 16) * slices + slice] * scale;
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        y[(top + 2 * i + lane / 16) * n + side + lane % 16] = total[i];
}
