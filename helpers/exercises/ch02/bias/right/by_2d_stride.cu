extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) { for (int r = blockIdx.y*blockDim.y+threadIdx.y; r < rows;
    r += gridDim.y*blockDim.y) for (int c = blockIdx.x*blockDim.x+threadIdx.x; c < columns;
    c += gridDim.x*blockDim.x) out[r*columns+c] = in[r*columns+c] + bias[c]; }
