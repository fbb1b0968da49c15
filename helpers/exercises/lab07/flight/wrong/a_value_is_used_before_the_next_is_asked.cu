extern "C" __global__ void accumulate(float* grad, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
for (; i < n; i += all) grad[i] += 0.5f * (a[i] + b[i]);
}
