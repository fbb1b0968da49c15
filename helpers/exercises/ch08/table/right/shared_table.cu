extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    __shared__ float a[8], b[8];
    if (threadIdx.x == 0) {
        a[0] = 2.0f; a[1] = 3.0f; a[2] = 0.5f; a[3] = 1.5f; a[4] = 4.0f; a[5] = 0.25f; a[6] = 5.0f; a[7] = 6.0f;
        b[0] = 1.0f; b[1] = -2.0f; b[2] = 4.0f; b[3] = -1.0f; b[4] = 3.0f; b[5] = 0.0f; b[6] = -3.0f; b[7] = 2.0f;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int k = kind[i]; out[i] = a[k] * x[i] + b[k]; }
}
