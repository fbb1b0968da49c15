extern "C" __global__ void accumulate(float* grad, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
for (; i + all < n; i += 2 * all) {
        float u = grad[i], v = a[i], w = b[i], x = grad[i + all], y = a[i + all], z = b[i + all];
        grad[i] = u + 0.5f * (v + w), grad[i + all] = x + 0.5f * (y + z);
    } for (; i < n; i += all) grad[i] += 0.5f * (a[i] + b[i]);
}
