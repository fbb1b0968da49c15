extern "C" __global__ void softmax(const float* x, float* out, int rows, int n, float scale) {
    int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const float LOWEST = __int_as_float(0xff800000);  // minus infinity
if (row >= rows) return;
    float m = LOWEST, sum = 0;
    for (int i = lane; i < n; i += 32) m = fmaxf(m, scale * x[row * n + i]);
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
    for (int i = lane; i < n; i += 32) sum += expf(scale * x[row * n + i] - m);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int i = lane; i < n; i += 32) out[row * n + i] = expf(scale * x[row * n + i] - m) / sum;
}
