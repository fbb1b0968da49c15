__device__ float costly(float v) {
    #pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    __shared__ int list[1024], count;
    int first = blockIdx.x * 1024, end = min(n, first + 1024);
for (int i = first + threadIdx.x; i < end; i += blockDim.x) out[i] = x[i] > limit ? costly(x[i]) : x[i];
}
