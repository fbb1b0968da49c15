"""Right answers to lab09.patch by routes other than the solution's."""

KEY = "lab09.patch"

LOAD = """
__shared__ float left[64][17], right[16][64];
__device__ void load_tiles(const float* a, const float* b, int m, int k, int n, int first) {
    int t = 16 * threadIdx.y + threadIdx.x, top = 64 * blockIdx.y, side = 64 * blockIdx.x;
    for (int e = t; e < 1024; e += 256) {
        int row = top + e / 16, j = first + e % 16;
        left[e / 16][e % 16] = row < m && j < k ? a[row * k + j] : 0;
    }
    for (int e = t; e < 1024; e += 256) {
        int j = first + e / 64, column = side + e % 64;
        right[e / 64][e % 64] = j < k && column < n ? b[j * n + column] : 0;
    }
}
extern "C" __global__ void product(const float* a, const float* b, float* c, int m, int k, int n) {"""

ROWS = [
    # which way, the solution cell
    (
        "neighbours as one float4, stored as one where they fit",
        f'''SOURCE = r"""{LOAD}
    int x = threadIdx.x, y = threadIdx.y;
    float sum[4][4] = {{}};
    for (int first = 0; first < k; first += 16) {{
        load_tiles(a, b, m, k, n, first);
        __syncthreads();
        for (int j = 0; j < 16; ++j) {{
            float4 v = *(float4*)&right[j][4 * x];
            for (int i = 0; i < 4; ++i) {{
                float u = left[4 * y + i][j];
                sum[i][0] += u * v.x; sum[i][1] += u * v.y; sum[i][2] += u * v.z; sum[i][3] += u * v.w;
            }}
        }}
        __syncthreads();
    }}
    for (int i = 0; i < 4; ++i) {{
        int row = 64 * blockIdx.y + 4 * y + i, column = 64 * blockIdx.x + 4 * x;
        if (row >= m) continue;
        if (n % 4 == 0 && column < n)
            *(float4*)&c[row * n + column] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        else
            for (int l = 0; l < 4; ++l) if (column + l < n) c[row * n + column + l] = sum[i][l];
    }}
}}"""
product = cp.RawKernel(SOURCE, "product")
''',
    ),
    (
        "two rows of eight columns",
        f'''SOURCE = r"""{LOAD}
    int t = 16 * threadIdx.y + threadIdx.x, x = t % 8, y = t / 8;
    float sum[2][8] = {{}};
    for (int first = 0; first < k; first += 16) {{
        load_tiles(a, b, m, k, n, first);
        __syncthreads();
        for (int j = 0; j < 16; ++j) {{
            float u[2] = {{left[y][j], left[y + 32][j]}};
            for (int l = 0; l < 8; ++l) {{
                float v = right[j][x + 8 * l];
                sum[0][l] += u[0] * v;
                sum[1][l] += u[1] * v;
            }}
        }}
        __syncthreads();
    }}
    for (int i = 0; i < 2; ++i)
        for (int l = 0; l < 8; ++l) {{
            int row = 64 * blockIdx.y + y + 32 * i, column = 64 * blockIdx.x + x + 8 * l;
            if (row < m && column < n) c[row * n + column] = sum[i][l];
        }}
}}"""
product = cp.RawKernel(SOURCE, "product")
''',
    ),
    (
        "the left tile on its side, slices of eight",
        '''SOURCE = r"""
extern "C" __global__ void product(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[8][65], right[8][64];
    int x = threadIdx.x, y = threadIdx.y, t = 16 * y + x, top = 64 * blockIdx.y, side = 64 * blockIdx.x;
    float sum[16] = {};
    for (int first = 0; first < k; first += 8) {
        for (int e = t; e < 512; e += 256) {
            int r = e / 8, j = e % 8;
            left[j][r] = top + r < m && first + j < k ? a[(top + r) * k + first + j] : 0;
            r = e % 64, j = e / 64;
            right[j][r] = side + r < n && first + j < k ? b[(first + j) * n + side + r] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
            float u[4], v[4];
            #pragma unroll
            for (int i = 0; i < 4; ++i) u[i] = left[j][y + 16 * i], v[i] = right[j][x + 16 * i];
            #pragma unroll
            for (int i = 0; i < 16; ++i) sum[i] = fmaf(u[i / 4], v[i % 4], sum[i]);
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
        int row = top + y + i / 4 * 16, column = side + x + i % 4 * 16;
        if (row < m && column < n) c[row * n + column] = sum[i];
    }
}"""
product = cp.RawKernel(SOURCE, "product")
''',
    ),
]
