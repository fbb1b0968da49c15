extern "C" __global__ void exclusive(const int* x, int* out) {
    __shared__ int temp[2 * 1024];
    int n = blockDim.x, thid = threadIdx.x, pout = 0, pin = 1;
    temp[pout * n + thid] = (thid > 0) ? x[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout; pin = 1 - pout;
        if (thid >= offset) temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    out[thid] = temp[pout * n + thid];
}
