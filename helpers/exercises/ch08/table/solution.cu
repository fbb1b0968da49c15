__device__ const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};

extern "C" __global__
void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scale[kind[i]] * x[i] + shift[kind[i]];
}
