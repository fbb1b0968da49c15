extern "C" __global__ void rotate(const float* x, float* out, int rows, int columns) {
    int t = threadIdx.x, left = 32 * blockIdx.x, top = 32 * blockIdx.y;
for (int y = threadIdx.y; y < 32; y += 8)
if (top + y < rows && left + t < columns)
out[(left + t) * rows + rows - 1 - (top + y)] = x[(top + y) * columns + left + t];
}
