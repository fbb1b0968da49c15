extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];  // one for each warp that a block may have
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
__shared__ float a[1024]; a[t] = sum;
for (int d = blockDim.x / 2; d > 0; d /= 2) { __syncthreads(); if (t < d) a[t] += a[t + d]; }
if (t == 0) atomicAdd(out, a[0]);
}
