extern "C" __global__
void grey(const float* planes, float* out, int n) {
int j = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
for (int i = j; i < min(n, j + 8); ++i) out[i] = 0.25f * planes[i] + 0.5f * planes[n + i] + 0.25f * planes[2 * n + i];
}
