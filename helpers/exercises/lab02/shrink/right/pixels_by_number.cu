extern "C" __global__ void shrink(const float* x, float* out, int rows, int columns, int
    pitch, int out_pitch){int t = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.y *
    32 + threadIdx.x; int h = columns / 2; for (int i = t; i < rows * h; i += gridDim.x *
    gridDim.y * 256) { int y = i / h, c = i % h; float2 p = ((const float2*)(x + y *
    pitch))[c]; out[y * out_pitch + c] = .5f * (p.x + p.y); }}
