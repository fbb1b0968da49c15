extern "C" __global__ void embed(const int* token, const float* table, float* out, int tokens,
    int width){const float4* t4 = (const float4*)table; float4* o4 = (float4*)out; const int
    w4 = width / 4;
int id = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
int g = w4 < 8 ? 4 : w4 < 16 ? 8 : w4 < 32 ? 16 : 32; int l = id % g; for (int t = id / g; t <
    tokens; t += step / g) { int r = token[t]; for (int k = l; k < w4; k += g) o4[t * w4 + k]
    = r < 0 ? make_float4(0, 0, 0, 0) : t4[r * w4 + k]; }}
