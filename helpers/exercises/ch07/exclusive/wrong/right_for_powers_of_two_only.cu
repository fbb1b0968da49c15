extern "C" __global__
void exclusive(const int* x, int* out) {
    __shared__ int s[1024];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = x[t];
    __syncthreads();

    for (int d = n / 2; d > 0; d /= 2) {
        int k = (t + 1) * (n / d) - 1;
        if (k < n) s[k] += s[k - n / (2 * d)];
        __syncthreads();
    }
    if (t == 0) s[n - 1] = 0;
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int k = (t + 1) * (n / d) - 1, j = k - n / (2 * d);
        if (k < n && t < d) { int left = s[j]; s[j] = s[k]; s[k] += left; }
        __syncthreads();
    }
    out[t] = s[t];
}
