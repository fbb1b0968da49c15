extern "C" __global__ void shrink(const float* x, float* out, int rows, int columns, int
    pitch, int out_pitch){int c = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y *
    blockDim.y + threadIdx.y;
int h = columns / 2; if (y >= rows) return; int k = 2 * c; if (k + 1 < h) { float4 p = ((const
    float4*)(x + y * pitch))[c]; ((float2*)(out + y * out_pitch))[c] = make_float2(0.5f * (p.x
    + p.y), 0.5f * (p.z + p.w)); } else if (k < h) { float2 p = ((const float2*)(x + y *
    pitch))[k]; out[y * out_pitch + k] = 0.5f * (p.x + p.y); }}
