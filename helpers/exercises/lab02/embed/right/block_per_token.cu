extern "C" __global__ void embed(const int* token, const float* table, float* out, int tokens,
    int width){const float4* t4 = (const float4*)table; float4* o4 = (float4*)out; const int
    w4 = width / 4;
for (int t = blockIdx.x; t < tokens; t += gridDim.x) { const int r = token[t]; for (int k =
    threadIdx.x; k < w4; k += blockDim.x) { float4 v = {0, 0, 0, 0}; if (r >= 0) v =
    __ldg(&t4[r * w4 + k]); o4[t * w4 + k] = v; } }}
