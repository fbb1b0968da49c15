extern "C" __global__ void follow(const float* x, float* out, int rows, int n, float
    weight){int t = threadIdx.x, top = 32 * blockIdx.x, here = min(32, rows - top);
__shared__ float tile[32][32]; float now;
for (int first = 0; first < n; first += 32) { int wide = min(32, n - first);
for (int r = 0; r < here; ++r) if (t < wide) tile[r][t ^ r] = x[(top + r) * n + first + t];
__syncthreads();
if (t < here) { if (first == 0) now = tile[t][t]; for (int k = 0; k < wide; ++k) tile[t][k ^
    t] = now += weight * (tile[t][k ^ t] - now); }
__syncthreads();
for (int r = 0; r < here; ++r) if (t < wide) out[(top + r) * n + first + t] = tile[r][t ^ r];
    }
}
