extern "C" __global__
void row_max(const float* x, float* out, int n) {
__shared__ float s[128]; int t = threadIdx.x; float best = x[blockIdx.x * n];
for (int i = t; i < n; i += blockDim.x) best = fmaxf(best, x[blockIdx.x * n + i]);
s[t] = best;
for (int d = 64; d > 0; d /= 2) { __syncthreads(); if (t < d) s[t] = fmaxf(s[t], s[t + d]); }
if (t == 0) out[blockIdx.x] = s[0];
}
