"""Right answers to lab03.follow by routes other than the solution's."""

KEY = "lab03.follow"

ROWS = [
    # which way, the solution cell
    (
        "a tile of 32 × 32, exclusive or",
        '''SOURCE = r"""extern "C" __global__ void follow(const float* x, float* out, int rows, int n, float
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
}"""
follow = cp.RawKernel(SOURCE, "follow")
''',
    ),
    (
        "a tile on its side",
        '''SOURCE = r"""extern "C" __global__ void follow(const float* x, float* out, int rows, int n, float
    weight){int t = threadIdx.x, top = 32 * blockIdx.x, here = min(32, rows - top);
__shared__ float tile[32][33]; float now;
for (int first = 0; first < n; first += 32) { int wide = min(32, n - first);
for (int r = 0; r < here; ++r) if (t < wide) tile[t][r] = x[(top + r) * n + first + t];
__syncthreads();
if (t < here) { if (first == 0) now = tile[0][t]; for (int k = 0; k < wide; ++k) tile[k][t] =
    now += weight * (tile[k][t] - now); }
__syncthreads();
for (int r = 0; r < here; ++r) if (t < wide) out[(top + r) * n + first + t] = tile[t][r]; }
}"""
follow = cp.RawKernel(SOURCE, "follow")
''',
    ),
    (
        "syncwarp",
        '''SOURCE = r"""extern "C" __global__ void follow(const float* x, float* out, int rows, int n, float
    weight){int t = threadIdx.x, top = 32 * blockIdx.x, here = min(32, rows - top);
__shared__ float tile[32][33]; float now;
for (int first = 0; first < n; first += 32) { int wide = min(32, n - first);
for (int r = 0; r < here; ++r) if (t < wide) tile[r][t] = x[(top + r) * n + first + t];
__syncwarp();
if (t < here) { if (first == 0) now = tile[t][0]; for (int k = 0; k < wide; ++k) tile[t][k] =
    now += weight * (tile[t][k] - now); }
__syncwarp();
for (int r = 0; r < here; ++r) if (t < wide) out[(top + r) * n + first + t] = tile[r][t]; }
}"""
follow = cp.RawKernel(SOURCE, "follow")
''',
    ),
    (
        "a tile for what comes out",
        '''SOURCE = r"""extern "C" __global__ void follow(const float* x, float* out, int rows, int n, float
    weight){int t = threadIdx.x, top = 32 * blockIdx.x, here = min(32, rows - top);
__shared__ float a[32][33], b[32][33]; float now = 0; for (int first = 0; first < n; first +=
    32) { for (int r = 0; r < 32; ++r) a[r][t] = (r < here && first + t < n) ? x[(top + r) * n
    + first + t] : 0.f; __syncthreads(); for (int k = 0; k < 32 && first + k < n; ++k) { float
    v = a[t][k]; now = first + k == 0 ? v : now + weight * (v - now); b[t][k] = now; }
    __syncthreads(); for (int r = 0; r < here; ++r) if (first + t < n) out[(top + r) * n +
    first + t] = b[r][t]; __syncthreads(); }}"""
follow = cp.RawKernel(SOURCE, "follow")
''',
    ),
]
