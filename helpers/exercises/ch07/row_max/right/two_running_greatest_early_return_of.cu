extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ float s[4];
    const float* r = x + blockIdx.x * n;
    float a = r[0], b = r[n - 1];
    int i = threadIdx.x;
    for (; i + 128 < n; i += 256) { a = fmaxf(a, r[i]); b = fmaxf(b, r[i + 128]); }
    if (i < n) a = fmaxf(a, r[i]);
    a = fmaxf(a, b);
    for (int d = 16; d > 0; d /= 2) a = fmaxf(a, __shfl_xor_sync(0xffffffff, a, d));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    a = s[threadIdx.x & 3];
    a = fmaxf(a, __shfl_xor_sync(0xffffffff, a, 1));
    a = fmaxf(a, __shfl_xor_sync(0xffffffff, a, 2));
    if (threadIdx.x == 0) out[blockIdx.x] = a;
}
