extern "C" __global__ void rotate(const float* x, float* out, int rows, int columns){int t =
    threadIdx.x, left = 32 * blockIdx.x, top = 32 * blockIdx.y;
__shared__ float tile[32][33];
for (int y = threadIdx.y; y < 32; y += 8) if (top + y < rows && left + t < columns) tile[t][y]
    = x[(top + y) * columns + left + t];
__syncthreads();
for (int y = threadIdx.y; y < 32; y += 8) if (left + y < columns && top + t < rows) out[(left
    + y) * rows + rows - 1 - (top + t)] = tile[y][t];
}
