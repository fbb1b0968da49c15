extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ float s[4];
    const int t = threadIdx.x;
    float m = x[(long long)blockIdx.x * n];
    for (int i = t; i < n; i += 128) m = m > x[(long long)blockIdx.x * n + i] ? m : x[(long long)blockIdx.x * n + i];
    for (int d = 1; d < 32; d <<= 1) { float o = __shfl_xor_sync(0xffffffffu, m, d); m = m > o ? m : o; }
    if (!(t & 31)) s[t >> 5] = m;
    __syncthreads();
    if (t < 4) {
        m = s[t];
        m = fmaxf(m, __shfl_down_sync(0xf, m, 2));
        m = fmaxf(m, __shfl_down_sync(0xf, m, 1));
        if (t == 0) out[blockIdx.x] = m;
    }
}
