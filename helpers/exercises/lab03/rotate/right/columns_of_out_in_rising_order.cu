extern "C" __global__ void rotate(const float* x, float* out, int rows, int columns){int t =
    threadIdx.x, left = 32 * blockIdx.x, top = 32 * blockIdx.y;
__shared__ float tile[32][33];
for (int y = threadIdx.y; y < 32; y += 8) if (top + y < rows && left + t < columns) tile[y][t]
    = x[(top + y) * columns + left + t];
__syncthreads();
for (int y = threadIdx.y; y < 32; y += 8) { int c = rows - 32 - top + t; int r = rows - 1 - c
    - top; if (left + y < columns && c >= 0 && r < 32) out[(left + y) * rows + c] =
    tile[r][y]; }}
