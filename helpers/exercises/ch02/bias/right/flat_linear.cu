extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) { int tid = (blockIdx.y*gridDim.x+blockIdx.x)*128 + threadIdx.y*16 + threadIdx.x;
    for (int k = tid; k < rows*columns;
    k += gridDim.x*gridDim.y*128) out[k] = in[k] + bias[k % columns]; }
