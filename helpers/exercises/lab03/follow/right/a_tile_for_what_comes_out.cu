extern "C" __global__ void follow(const float* x, float* out, int rows, int n, float
    weight){int t = threadIdx.x, top = 32 * blockIdx.x, here = min(32, rows - top);
__shared__ float a[32][33], b[32][33]; float now = 0; for (int first = 0; first < n; first +=
    32) { for (int r = 0; r < 32; ++r) a[r][t] = (r < here && first + t < n) ? x[(top + r) * n
    + first + t] : 0.f; __syncthreads(); for (int k = 0; k < 32 && first + k < n; ++k) { float
    v = a[t][k]; now = first + k == 0 ? v : now + weight * (v - now); b[t][k] = now; }
    __syncthreads(); for (int r = 0; r < here; ++r) if (first + t < n) out[(top + r) * n +
    first + t] = b[r][t]; __syncthreads(); }}
