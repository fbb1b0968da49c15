extern "C" __global__ void turned(const float* x, float* out, int rows, int columns) {
    __shared__ float tile[32][32];
    int tx = threadIdx.x, row = 32 * blockIdx.y, column = 32 * blockIdx.x;
    for (int i = threadIdx.y; i < 32; i += blockDim.y) tile[i][tx ^ i] = x[(row + i) * columns + column + tx];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += blockDim.y) out[(column + i) * rows + row + tx] = tile[tx][tx ^ i];
}
