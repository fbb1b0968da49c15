#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

constexpr int STAGES = 8;
__shared__ half left[STAGES][64][24], right[STAGES][16][72];

__device__ void copy_tiles(const half* a, const half* b, int k, int n, int first, int stage) {
    const half *top = a + 64 * blockIdx.y * k + first, *side = b + first * n + 64 * blockIdx.x;
    int t = threadIdx.x, row = t / 2, j = t % 2 * 8, step = t / 8, column = t % 8 * 8;
    __pipeline_memcpy_async(&left[stage][row][j], &top[row * k + j], 16);
    __pipeline_memcpy_async(&right[stage][step][column], &side[step * n + column], 16);
}

__device__ void multiply(Sum (&sum)[2][2], int stage) {
    int up = threadIdx.x / 64 * 32, over = threadIdx.x / 32 % 2 * 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
    for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(fa[i], &left[stage][up + 16 * i][0], 24);
        wmma::load_matrix_sync(fb[i], &right[stage][0][over + 16 * i], 72);
    }
    for (int i = 0; i < 4; ++i) wmma::mma_sync(sum[i / 2][i % 2], fa[i / 2], fb[i % 2], sum[i / 2][i % 2]);
}

__device__ void store(float* c, Sum (&sum)[2][2], int n) {
    int row = 64 * blockIdx.y + threadIdx.x / 64 * 32, column = 64 * blockIdx.x + threadIdx.x / 32 % 2 * 32;
    for (int i = 0; i < 4; ++i)
        wmma::store_matrix_sync(
            &c[(row + i / 2 * 16) * n + column + i % 2 * 16], sum[i / 2][i % 2], n, wmma::mem_row_major);
}

extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int k, int n) {
    Sum sum[2][2];
    for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    int tiles = k / 16;
    for (int i = 0; i < 6; ++i) {
        if (i < tiles) copy_tiles(a, b, k, n, 16 * i, i);
        __pipeline_commit();
    }
    for (int i = 0; i < tiles; i += 2) {
        __pipeline_wait_prior(4);
        __syncthreads();
        for (int next = i + 6; next < i + 8; ++next) {
            if (next < tiles) copy_tiles(a, b, k, n, 16 * next, next % 8);
            __pipeline_commit();
        }
        multiply(sum, i % 8);
        multiply(sum, (i + 1) % 8);
    }
    store(c, sum, n);
}
