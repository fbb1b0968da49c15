extern "C" __global__
void grey(const float* planes, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.25f * planes[i] + 0.5f * planes[n + i] + 0.25f * planes[2 * n + i];
}
