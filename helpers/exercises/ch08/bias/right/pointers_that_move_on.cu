extern "C" __global__
void add_bias(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ out, int rows,
              int columns) {
    const int column = threadIdx.x + blockDim.x * blockIdx.x;
    if (column < columns) {
        const float b = __ldg(bias + column);
        int left = rows - 8 * (int)blockIdx.y;
        const float* from = x + 8 * blockIdx.y * columns + column;
        float* to = out + 8 * blockIdx.y * columns + column;
        #pragma unroll
        for (int k = 0; k < 8; ++k, from += columns, to += columns)
            if (k < left) *to = *from + b;
    }
}
