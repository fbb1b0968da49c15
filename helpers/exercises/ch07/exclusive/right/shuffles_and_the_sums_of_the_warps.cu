extern "C" __global__ void exclusive(const int* x, int* out) {
    __shared__ int sums[32];
    int t = threadIdx.x, lane = t & 31, w = t >> 5, n = blockDim.x;
    int v = x[t], inc = v;
    unsigned mask = __activemask();
    for (int d = 1; d < 32; d <<= 1) { int o = __shfl_up_sync(mask, inc, d); if (lane >= d) inc += o; }
    if (lane == 31 || t == n - 1) sums[w] = inc;
    __syncthreads();
    int base = 0;
    for (int k = 0; k < w; ++k) base += sums[k];
    out[t] = base + inc - v;
}
