extern "C" __global__ void exclusive(const int* x, int* out) {
    __shared__ int s[1024];
    __shared__ int part[32];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = x[t];
    __syncthreads();
    int each = (n + 31) / 32;
    if (t < 32) {
        int sum = 0;
        for (int k = t * each; k < min(n, (t + 1) * each); ++k) sum += s[k];
        part[t] = sum;
        __syncwarp(__activemask());
        int before = 0;
        for (int k = 0; k < t; ++k) before += part[k];
        for (int k = t * each; k < min(n, (t + 1) * each); ++k) { int v = s[k]; s[k] = before; before += v; }
    }
    __syncthreads();
    out[t] = s[t];
}
