#define IDX(r,c) ((r)*columns+(c))
__device__ inline float add(float a, float b){return a+b;}
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) {int x = blockIdx.x * blockDim.x + threadIdx.x,
    y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) out[IDX(y,x)] = add(in[IDX(y,x)], bias[x]); }
