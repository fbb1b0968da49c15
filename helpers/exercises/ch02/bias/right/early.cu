extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) {int x = blockIdx.x * blockDim.x + threadIdx.x,
    y = blockIdx.y * blockDim.y + threadIdx.y; if (x >= columns || y >= rows) return;
    const int k = y * columns + x; out[k] = in[k] + bias[x]; }
