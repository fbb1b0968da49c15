template <int N, int H> __device__ void turn(const float* x, float* out, int rows, int
    columns) { __shared__ float tile[N][N + 1]; int t = threadIdx.x, left = N * blockIdx.x,
    top = N * blockIdx.y;
#pragma unroll
for (int y = threadIdx.y; y < N; y += H) if (top + y < rows && left + t < columns) tile[y][t]
    = __ldg(&x[(top + y) * columns + left + t]); __syncthreads();
#pragma unroll
for (int y = threadIdx.y; y < N; y += H) if (left + y < columns && top + t < rows) out[(left +
    y) * rows + rows - 1 - (top + t)] = tile[t][y]; }
extern "C" __global__ void rotate(const float* x, float* out, int rows, int columns){ turn<32,
    8>(x, out, rows, columns); }
