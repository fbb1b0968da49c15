extern "C" __global__
void row_max(const float* x, float* out, int n) {
int t = threadIdx.x; float best = x[blockIdx.x * n];
for (int i = t; i < n; i += blockDim.x) best = fmaxf(best, x[blockIdx.x * n + i]);
for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
if (t % 32 == 0) out[blockIdx.x] = best;
}
