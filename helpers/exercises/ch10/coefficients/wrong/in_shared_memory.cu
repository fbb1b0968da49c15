extern "C" __global__ void evaluate(const float* x, const float* coefficients, float* out, int terms, int n) {
    __shared__ float shared[256];
    for (int k = threadIdx.x; k < terms; k += blockDim.x)
        shared[k] = coefficients[k];
    __syncthreads();
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float v = x[i], r = 0.0f;
        for (int k = 0; k < terms; ++k)
            r = r * v + shared[k];
        out[i] = r;
    }
}
