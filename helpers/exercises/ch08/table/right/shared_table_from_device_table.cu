__device__ const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};
extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    __shared__ float a[8], b[8];
    int t = threadIdx.x;
    if (t < 8) { a[t] = scale[t]; b[t] = shift[t]; }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) { int k = kind[i]; out[i] = a[k] * x[i] + b[k]; }
}
