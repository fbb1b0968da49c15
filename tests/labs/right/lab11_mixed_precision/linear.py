"""Right answers to lab11.linear by routes other than the solution's."""

KEY = "lab11.linear"

HEAD = """
extern "C" __global__ void linear(const signed char* x, const signed char* w, const float* sx, const float* sw,
                                  float* y, int m, int k, int n) {"""

ROWS = [
    # which way, the solution cell
    (
        "both scales loaded for every result",
        f'''SOURCE = r"""#include <mma.h>
using namespace nvcuda;
{HEAD}
    __shared__ __align__(32) signed char left[4][32][16], right[4][32][16];
    __shared__ int out[32][36];
    int t = threadIdx.x, up = t / 64 * 16, over = t / 32 % 2 * 16, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int first = 0; first < k; first += 64) {{
        *(uint4*)left[t % 4][t / 4] = *(const uint4*)&x[(top + t / 4) * k + first + t % 4 * 16];
        *(uint4*)right[t % 4][t / 4] = *(const uint4*)&w[(side + t / 4) * k + first + t % 4 * 16];
        __syncthreads();
        for (int j = 0; j < 4; ++j) {{
            wmma::load_matrix_sync(a, left[j][up], 16);
            wmma::load_matrix_sync(b, right[j][over], 16);
            wmma::mma_sync(sum, a, b, sum);
        }}
        __syncthreads();
    }}
    wmma::store_matrix_sync(&out[up][over], sum, 36, wmma::mem_row_major);
    __syncthreads();
    for (int r = t / 32; r < 32; r += 4) {{
        int row = top + r, column = side + t % 32;
        y[row * n + column] = out[r][t % 32] * sx[row] * sw[column];
    }}
}}"""
linear = cp.RawKernel(SOURCE, "linear")
''',
    ),
    (
        "fragments of 32 × 8",
        f'''SOURCE = r"""#include <mma.h>
using namespace nvcuda;
{HEAD}
    __shared__ __align__(32) signed char left[4][32][16], right[4][32][16];
    __shared__ __align__(32) int out[32][32];
    int t = threadIdx.x, over = t / 32 * 8, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 32, 8, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int first = 0; first < k; first += 64) {{
        *(uint4*)left[t % 4][t / 4] = *(const uint4*)&x[(top + t / 4) * k + first + t % 4 * 16];
        *(uint4*)right[t % 4][t / 4] = *(const uint4*)&w[(side + t / 4) * k + first + t % 4 * 16];
        __syncthreads();
        for (int j = 0; j < 4; ++j) {{
            wmma::load_matrix_sync(a, left[j][0], 16);
            wmma::load_matrix_sync(b, right[j][over], 16);
            wmma::mma_sync(sum, a, b, sum);
        }}
        __syncthreads();
    }}
    wmma::store_matrix_sync(&out[0][over], sum, 32, wmma::mem_row_major);
    __syncthreads();
    float scale = sw[side + t % 32];
    for (int r = t / 32; r < 32; r += 4) y[(top + r) * n + side + t % 32] = sx[top + r] * out[r][t % 32] * scale;
}}"""
linear = cp.RawKernel(SOURCE, "linear")
''',
    ),
    (
        "scales in shared memory, a fragment of half of each slice",
        f'''SOURCE = r"""#include <mma.h>
using namespace nvcuda;
{HEAD}
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
    for (int first = 0; first < k; first += 32) {{
        *(uint4*)tiles[t / 64][t % 2][t / 2 % 32] = *(const uint4*)(from + first + t % 2 * 16);
        __syncthreads();
        for (int j = 0; j < 2; ++j) {{
            wmma::load_matrix_sync(a, tiles[0][j][w4 / 2 * 16], 16);
            wmma::load_matrix_sync(b, tiles[1][j][w4 % 2 * 16], 16);
            wmma::mma_sync(sum, a, b, sum);
        }}
        __syncthreads();
    }}
    wmma::store_matrix_sync(&out[w4][0][0], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = lane; e < 256; e += 32) {{
        int r = w4 / 2 * 16 + e / 16, c = w4 % 2 * 16 + e % 16;
        y[(top + r) * n + side + c] = out[w4][e / 16][e % 16] * scales[r] * scales[32 + c];
    }}
}}"""
linear = cp.RawKernel(SOURCE, "linear")
''',
    ),
    (
        "promised not to overlap, scales read where they are needed",
        '''SOURCE = r"""#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void linear(const signed char* __restrict__ x, const signed char* __restrict__ w,
                                  const float* __restrict__ sx, const float* __restrict__ sw,
                                  float* __restrict__ y, int m, int k, int n) {
    __shared__ __align__(32) signed char left[4][32][16], right[4][32][16];
    __shared__ int out[32][36];
    int t = threadIdx.x, up = t / 64 * 16, over = t / 32 % 2 * 16, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int first = 0; first < k; first += 64) {
        for (int e = t; e < 256; e += 128) {
            int r = e / 8, j = e % 8;
            *(int2*)&left[j / 2][r][j % 2 * 8] = *(const int2*)&x[(top + r) * k + first + 8 * j];
            *(int2*)&right[j / 2][r][j % 2 * 8] = *(const int2*)&w[(side + r) * k + first + 8 * j];
        }
        __syncthreads();
        for (int j = 0; j < 4; ++j) {
            wmma::load_matrix_sync(a, left[j][up], 16);
            wmma::load_matrix_sync(b, right[j][over], 16);
            wmma::mma_sync(sum, a, b, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[up][over], sum, 36, wmma::mem_row_major);
    __syncthreads();
    for (int r = t / 32; r < 32; r += 4)
        y[(top + r) * n + side + t % 32] = out[r][t % 32] * (sx[top + r] * sw[side + t % 32]);
}"""
linear = cp.RawKernel(SOURCE, "linear")
''',
    ),
]
