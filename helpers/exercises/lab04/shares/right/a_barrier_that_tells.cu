extern "C" __global__ void shares(const int* x, int* parts, int* tickets, float* out, int n){
    __shared__ int sum;
    __shared__ bool last;
    int t = threadIdx.x, mine = 0;
    if (t == 0) sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine +=
    x[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (t == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
    }
    bool mylast = false; if (t == 0) { mylast = atomicAdd(tickets, 1) == gridDim.x - 1;
    __threadfence(); }
    bool lastb = __syncthreads_or(mylast);
    if (lastb && t < gridDim.x) {
        int total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += parts[b];
        out[t] = (float)parts[t] / total;
    }
}
