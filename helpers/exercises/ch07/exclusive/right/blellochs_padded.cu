extern "C" __global__ void exclusive(const int* x, int* out) {
    __shared__ int s[1024];
    int t = threadIdx.x, n = blockDim.x, size = 1;
    while (size < n) size *= 2;
    for (int k = t; k < size; k += n) s[k] = k < n ? x[k] : 0;
    for (int d = 1; d < size; d *= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k < size) s[k] += s[k - d];
    }
    __syncthreads();
    if (t == 0) s[size - 1] = 0;
    for (int d = size / 2; d > 0; d /= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k < size) { int left = s[k - d]; s[k - d] = s[k]; s[k] += left; }
    }
    __syncthreads();
    out[t] = s[t];
}
