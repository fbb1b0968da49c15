extern "C" __global__ void turned(const float* x, float* out, int rows, int columns) {
    __shared__ float tile[32 * 32];
    int tx = threadIdx.x, ty = threadIdx.y, row = 32 * blockIdx.y, column = 32 * blockIdx.x;
    for (int i = ty; i < 32; i += 8) {
        int place = 32 * i + tx;
        tile[place ^ (place >> 5 & 31)] = x[(row + i) * columns + column + tx];
    }
    __syncthreads();
    for (int i = ty; i < 32; i += 8) {
        int place = 32 * tx + i;
        out[(column + i) * rows + row + tx] = tile[place ^ (place >> 5 & 31)];
    }
}
