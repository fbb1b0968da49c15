extern "C" __global__
void scale(const float* x, float* out, int n) {
if (blockIdx.x * blockDim.x + threadIdx.x == 0) for (int i = 0; i < n; ++i) out[i] = 1.5f * x[i];
}
