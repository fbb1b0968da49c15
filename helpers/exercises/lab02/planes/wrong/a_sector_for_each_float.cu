extern "C" __global__ void planes(const float* records, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
for (int first = 4 * i, j = first; j < min(n, first + 4); ++j)
                    for (int c = 0; c < 4; ++c) out[c * n + j] = records[4 * j + c];
}
