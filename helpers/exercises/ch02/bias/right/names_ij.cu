extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) { int col = threadIdx.x + blockDim.x*blockIdx.x;
    int row = threadIdx.y + blockIdx.y*8;
    if (row < rows) if (col < columns) out[row*columns+col] = bias[col] + in[row*columns+col]; }
