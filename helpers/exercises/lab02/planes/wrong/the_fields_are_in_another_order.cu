extern "C" __global__ void planes(const float* records, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
if (i < n) for (int c = 0; c < 4; ++c) out[(3 - c) * n + i] = records[4 * i + c];
}
