__device__ const float2 coefficients[8] = {{2.0f, 1.0f}, {3.0f, -2.0f}, {0.5f, 4.0f}, {1.5f, -1.0f},
                                       {4.0f, 3.0f}, {0.25f, 0.0f}, {5.0f, -3.0f}, {6.0f, 2.0f}};
extern "C" __global__ void table(const int* __restrict__ kind, const float* __restrict__ x,
                                 float* __restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const float2 c = coefficients[kind[i]];
        out[i] = c.x * x[i] + c.y;
    }
}
