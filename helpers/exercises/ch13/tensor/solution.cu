#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void tensor(const half* a, const half* b, float* c, int m, int n, int depth) {
    int row = 16 * blockIdx.y, column = 16 * (4 * blockIdx.x + threadIdx.x / 32);
    if (column >= n) return;
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, row_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int k = 0; k < depth; k += 16) {
        load_matrix_sync(left, a + row * depth + k, depth);
        load_matrix_sync(right, b + k * n + column, n);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}
