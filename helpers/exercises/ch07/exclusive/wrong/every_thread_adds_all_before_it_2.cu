extern "C" __global__
void exclusive(const int* x, int* out) {
    __shared__ int s[1024];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = x[t];
    __syncthreads();
    int sum = 0; for (int k = 0; k < t; ++k) sum += s[k];
    out[t] = sum;
}
