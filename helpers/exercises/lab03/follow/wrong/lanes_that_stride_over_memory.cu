extern "C" __global__ void follow(const float* x, float* out, int rows, int n, float weight) {
    int t = threadIdx.x, top = 32 * blockIdx.x, here = min(32, rows - top);  // so many rows
if (t >= here) return;
    int row = top + t;
    float now = x[row * n];
    for (int k = 0; k < n; ++k) out[row * n + k] = now += weight * (x[row * n + k] - now);
}
