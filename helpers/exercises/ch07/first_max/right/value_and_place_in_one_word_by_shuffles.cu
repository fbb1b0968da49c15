__device__ unsigned long long packed(float value, int place) {
    unsigned bits = __float_as_uint(value);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (unsigned long long)bits << 32 | (0xffffffffu - place);
}
extern "C" __global__ void first_max(const float* x, int* out, int n) {
    __shared__ unsigned long long s[8];
    int t = threadIdx.x;
    unsigned long long best = t < n ? packed(x[blockIdx.x * n + t], t) : 0;
    for (int d = 16; d > 0; d /= 2) {
        unsigned long long other = __shfl_down_sync(0xffffffff, best, d);
        best = other > best ? other : best;
    }
    if (t % 32 == 0) s[t / 32] = best;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 8; ++w) best = s[w] > best ? s[w] : best;
        out[blockIdx.x] = 0xffffffffu - (unsigned)best;
    }
}
