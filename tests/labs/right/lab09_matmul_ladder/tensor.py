"""Right answers to lab09.tensor by routes other than the solution's."""

KEY = "lab09.tensor"

HEAD = """#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* c, int m, int k, int n) {"""

ROWS = [
    # which way, the solution cell
    (
        "slices of sixteen, and pieces of 16 × 16",
        f'''SOURCE = r"""{HEAD}
    __shared__ __align__(32) half left[2][16][16], right[2][16][16];
    __shared__ __align__(32) float out[4][16][16];
    int t = threadIdx.x, w = t / 32, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    int la = t % 16, lb = t % 32, rows = m - top, columns = n - side;
    for (int first = 0; first < k; first += 16) {{
        for (int r = t / 16; r < 32; r += 8)
            left[r / 16][r % 16][la] = r < rows && first + la < k ? a[(top + r) * k + first + la] : half(0.0f);
        for (int r = t / 32; r < 16; r += 4)
            right[lb / 16][r][lb % 16] = lb < columns && first + r < k ? b[(first + r) * n + side + lb] : half(0.0f);
        __syncthreads();
        wmma::load_matrix_sync(fa, &left[w / 2][0][0], 16);
        wmma::load_matrix_sync(fb, &right[w % 2][0][0], 16);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }}
    wmma::store_matrix_sync(&out[w][0][0], sum, 16, wmma::mem_row_major);
    __syncthreads();
    for (int r = t / 32; r < min(32, rows); r += 4)
        if (lb < columns) c[(top + r) * n + side + lb] = out[r / 16 * 2 + lb / 16][r % 16][lb % 16];
}}"""
tensor = cp.RawKernel(SOURCE, "product")
''',
    ),
    (
        "the right side turned over, a fragment of columns",
        f'''SOURCE = r"""{HEAD}
    __shared__ half left[32][40], right[32][40];
    __shared__ float out[32][36];
    int t = threadIdx.x, up = t / 64 * 16, over = t / 32 % 2 * 16, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < k; first += 32) {{
        for (int r = t / 32, l = t % 32; r < 32; r += 4) {{
            left[r][l] = top + r < m && first + l < k ? a[(top + r) * k + first + l] : half(0.0f);
            right[l][r] = first + r < k && side + l < n ? b[(first + r) * n + side + l] : half(0.0f);
        }}
        __syncthreads();
        for (int j = 0; j < 32; j += 16) {{
            wmma::load_matrix_sync(fa, &left[up][j], 40);
            wmma::load_matrix_sync(fb, &right[over][j], 40);
            wmma::mma_sync(sum, fa, fb, sum);
        }}
        __syncthreads();
    }}
    wmma::store_matrix_sync(&out[over][up], sum, 36, wmma::mem_col_major);
    __syncthreads();
    for (int r = t / 32, l = t % 32; r < 32; r += 4)
        if (top + r < m && side + l < n) c[(top + r) * n + side + l] = out[l][r];
}}"""
tensor = cp.RawKernel(SOURCE, "product")
''',
    ),
    (
        "two warps have all products, and the tile of results is that of the factors",
        f'''SOURCE = r"""{HEAD}
    __shared__ __align__(32) char bytes[32 * 40 * 4];
    half (*left)[40] = (half (*)[40])bytes, (*right)[40] = left + 32;
    float (*out)[40] = (float (*)[40])bytes;
    int t = threadIdx.x, w = t / 32, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2];
    wmma::fill_fragment(sum[0], 0.0f);
    wmma::fill_fragment(sum[1], 0.0f);
    for (int first = 0; first < k; first += 32) {{
        for (int r = t / 32, l = t % 32; r < 32; r += 4) {{
            left[r][l] = top + r < m && first + l < k ? a[(top + r) * k + first + l] : half(0.0f);
            right[r][l] = first + r < k && side + l < n ? b[(first + r) * n + side + l] : half(0.0f);
        }}
        __syncthreads();
        if (w < 2)
            for (int j = 0; j < 32; j += 16) {{
                wmma::load_matrix_sync(fb, &right[j][16 * w], 40);
                for (int i = 0; i < 2; ++i) {{
                    wmma::load_matrix_sync(fa, &left[16 * i][j], 40);
                    wmma::mma_sync(sum[i], fa, fb, sum[i]);
                }}
            }}
        __syncthreads();
    }}
    if (w < 2)
        for (int i = 0; i < 2; ++i) wmma::store_matrix_sync(&out[16 * i][16 * w], sum[i], 40, wmma::mem_row_major);
    __syncthreads();
    for (int r = t / 32, l = t % 32; r < 32; r += 4)
        if (top + r < m && side + l < n) c[(top + r) * n + side + l] = out[r][l];
}}"""
tensor = cp.RawKernel(SOURCE, "product")
''',
    ),
]
