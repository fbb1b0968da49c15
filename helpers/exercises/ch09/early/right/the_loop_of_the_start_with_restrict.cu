extern "C" __global__
void four(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    #pragma unroll 4
    for (int k = i; k < n; k += all) out[k] = 3 * x[k] + y[k];
}
