extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ float shared[32];
    int lane = threadIdx.x & 0x1f, wid = threadIdx.x >> 5;
    float val = __int_as_float(0xff800000);
    for (int i = threadIdx.x; i < n; i += blockDim.x) val = fmaxf(val, x[blockIdx.x * n + i]);
    for (int off = 16; off > 0; off >>= 1) val = fmaxf(val, __shfl_down_sync(0xffffffff, val, off));
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / 32) ? shared[lane] : __int_as_float(0xff800000);
    if (wid == 0) {
        for (int off = 16; off > 0; off >>= 1) val = fmaxf(val, __shfl_down_sync(0xffffffff, val, off));
        if (lane == 0) out[blockIdx.x] = val;
    }
}
