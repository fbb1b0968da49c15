extern "C" __global__ void embed(const int* token, const float* table, float* out, int tokens,
    int width){const float4* t4 = (const float4*)table; float4* o4 = (float4*)out; const int
    w4 = width / 4;
int id = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
int lane = threadIdx.x & 31; for (int t = id >> 5; t < tokens; t += step >> 5) { int r =
    token[t]; for (int k = lane; k < w4; k += 32) o4[t * w4 + k] = r < 0 ? make_float4(0.f,
    0.f, 0.f, 0.f) : t4[r * w4 + k]; }}
