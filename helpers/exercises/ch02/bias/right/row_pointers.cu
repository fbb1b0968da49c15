extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) {int x = blockIdx.x * blockDim.x + threadIdx.x,
    y = blockIdx.y * blockDim.y + threadIdx.y; if (y < rows && x < columns) {
    const float* row = in + (size_t)y*columns;
    (out + (size_t)y*columns)[x] = row[x] + __ldg(bias + x); } }
