extern "C" __global__
void exclusive(const int* x, int* out) {
    __shared__ int s[1024];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    out[t] = t > 0 ? s[t - 1] : 0;
}
