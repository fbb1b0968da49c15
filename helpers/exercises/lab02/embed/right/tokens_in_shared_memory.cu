extern "C" __global__ void embed(const int* token, const float* table, float* out, int tokens,
    int width){const float4* t4 = (const float4*)table; float4* o4 = (float4*)out; const int
    w4 = width / 4;
__shared__ int toks[1024]; for (int base = 0; base < tokens; base += 1024) { int m = min(1024,
    tokens - base); __syncthreads(); for (int k = threadIdx.x; k < m; k += blockDim.x) toks[k]
    = token[base + k]; __syncthreads(); for (int i = blockIdx.x * blockDim.x + threadIdx.x; i
    < m * w4; i += gridDim.x * blockDim.x) { int r = toks[i / w4]; o4[base * w4 + i] = r < 0 ?
    make_float4(0,0,0,0) : t4[r * w4 + i % w4]; } }}
