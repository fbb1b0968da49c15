extern "C" __global__
void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int mine[64];
    int t = threadIdx.x;
    if (t < bins) mine[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[values[i]], 1);
    __syncthreads();
    if (t < bins) atomicAdd(&counts[t], mine[t]);
}
