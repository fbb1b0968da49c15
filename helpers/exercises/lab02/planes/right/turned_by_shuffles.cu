extern "C" __global__ void planes(const float* records, float* out, int n){int i = blockIdx.x
    * blockDim.x + threadIdx.x;
 int lane = threadIdx.x & 31; int w0 = (blockIdx.x * blockDim.x + (threadIdx.x & ~31)) * 4;
    float v[4]; for (int j = 0; j < 4; ++j) { int k = w0 + 32 * j + lane; v[j] = k < 4 * n ?
    records[k] : 0.f; } for (int c = 0; c < 4; ++c) { int src = (4 * lane + c); float r = 0;
    for (int j = 0; j < 4; ++j) { float q = __shfl_sync(~0u, v[j], src & 31); if ((src >> 5)
    == j) r = q; } if (i < n) out[c * n + i] = r; } }
