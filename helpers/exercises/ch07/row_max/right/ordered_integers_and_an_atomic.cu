__device__ int enc(float f) { int i = __float_as_int(f); return i >= 0 ? i : i ^ 0x7fffffff; }
__device__ float dec(int i) { return __int_as_float(i >= 0 ? i : i ^ 0x7fffffff); }
extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ int best;
    if (threadIdx.x == 0) best = 0x80000000;
    __syncthreads();
    int v = 0x80000000;
    for (int i = threadIdx.x; i < n; i += blockDim.x) v = max(v, enc(x[blockIdx.x * n + i]));
    v = __reduce_max_sync(0xffffffff, v);
    if (threadIdx.x % 32 == 0) atomicMax(&best, v);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = dec(best);
}
