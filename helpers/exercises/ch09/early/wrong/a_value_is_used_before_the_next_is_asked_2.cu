extern "C" __global__
void four(const float* x, const float* y, float* out, int n) {
int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int k = 0; k < 4; ++k) if (i + k * all < n) out[i + k * all] = 3 * x[i + k * all] + y[i + k * all];
}
