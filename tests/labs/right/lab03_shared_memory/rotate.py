"""Right answers to lab03.rotate by routes other than the solution's."""

KEY = "lab03.rotate"

ROWS = [
    # which way, the solution cell
    (
        "exclusive or in place of padding",
        '''SOURCE = r"""extern "C" __global__ void rotate(const float* x, float* out, int rows, int columns){int t =
    threadIdx.x, left = 32 * blockIdx.x, top = 32 * blockIdx.y;
__shared__ float tile[32][32];
for (int y = threadIdx.y; y < 32; y += 8) if (top + y < rows && left + t < columns) tile[y][t
    ^ y] = x[(top + y) * columns + left + t];
__syncthreads();
for (int y = threadIdx.y; y < 32; y += 8) if (left + y < columns && top + t < rows) out[(left
    + y) * rows + rows - 1 - (top + t)] = tile[t][y ^ t];
}"""
rotate = cp.RawKernel(SOURCE, "rotate")
''',
    ),
    (
        "turned on its way into the tile",
        '''SOURCE = r"""extern "C" __global__ void rotate(const float* x, float* out, int rows, int columns){int t =
    threadIdx.x, left = 32 * blockIdx.x, top = 32 * blockIdx.y;
__shared__ float tile[32][33];
for (int y = threadIdx.y; y < 32; y += 8) if (top + y < rows && left + t < columns) tile[t][y]
    = x[(top + y) * columns + left + t];
__syncthreads();
for (int y = threadIdx.y; y < 32; y += 8) if (left + y < columns && top + t < rows) out[(left
    + y) * rows + rows - 1 - (top + t)] = tile[y][t];
}"""
rotate = cp.RawKernel(SOURCE, "rotate")
''',
    ),
    (
        "columns of out in rising order",
        '''SOURCE = r"""extern "C" __global__ void rotate(const float* x, float* out, int rows, int columns){int t =
    threadIdx.x, left = 32 * blockIdx.x, top = 32 * blockIdx.y;
__shared__ float tile[32][33];
for (int y = threadIdx.y; y < 32; y += 8) if (top + y < rows && left + t < columns) tile[y][t]
    = x[(top + y) * columns + left + t];
__syncthreads();
for (int y = threadIdx.y; y < 32; y += 8) { int c = rows - 32 - top + t; int r = rows - 1 - c
    - top; if (left + y < columns && c >= 0 && r < 32) out[(left + y) * rows + c] =
    tile[r][y]; }}"""
rotate = cp.RawKernel(SOURCE, "rotate")
''',
    ),
    (
        "a template",
        '''SOURCE = r"""template <int N, int H> __device__ void turn(const float* x, float* out, int rows, int
    columns) { __shared__ float tile[N][N + 1]; int t = threadIdx.x, left = N * blockIdx.x,
    top = N * blockIdx.y;
#pragma unroll
for (int y = threadIdx.y; y < N; y += H) if (top + y < rows && left + t < columns) tile[y][t]
    = __ldg(&x[(top + y) * columns + left + t]); __syncthreads();
#pragma unroll
for (int y = threadIdx.y; y < N; y += H) if (left + y < columns && top + t < rows) out[(left +
    y) * rows + rows - 1 - (top + t)] = tile[t][y]; }
extern "C" __global__ void rotate(const float* x, float* out, int rows, int columns){ turn<32,
    8>(x, out, rows, columns); }"""
rotate = cp.RawKernel(SOURCE, "rotate")
''',
    ),
]
