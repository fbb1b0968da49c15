extern "C" __global__
void four(const float* x, const float* y, float* out, int n) {
int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int k = i; k < n; k += all) out[k] = 3 * x[k] + y[k];
}
