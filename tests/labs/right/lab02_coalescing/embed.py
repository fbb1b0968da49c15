"""Right answers to lab02.embed by routes other than the solution's."""

KEY = "lab02.embed"

ROWS = [
    # which way, the solution cell
    (
        "block per token",
        '''SOURCE = r"""extern "C" __global__ void embed(const int* token, const float* table, float* out, int tokens,
    int width){const float4* t4 = (const float4*)table; float4* o4 = (float4*)out; const int
    w4 = width / 4;
for (int t = blockIdx.x; t < tokens; t += gridDim.x) { const int r = token[t]; for (int k =
    threadIdx.x; k < w4; k += blockDim.x) { float4 v = {0, 0, 0, 0}; if (r >= 0) v =
    __ldg(&t4[r * w4 + k]); o4[t * w4 + k] = v; } }}"""
embed = cp.RawKernel(SOURCE, "embed")
''',
    ),
    (
        "warp per token",
        '''SOURCE = r"""extern "C" __global__ void embed(const int* token, const float* table, float* out, int tokens,
    int width){const float4* t4 = (const float4*)table; float4* o4 = (float4*)out; const int
    w4 = width / 4;
int id = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
int lane = threadIdx.x & 31; for (int t = id >> 5; t < tokens; t += step >> 5) { int r =
    token[t]; for (int k = lane; k < w4; k += 32) o4[t * w4 + k] = r < 0 ? make_float4(0.f,
    0.f, 0.f, 0.f) : t4[r * w4 + k]; }}"""
embed = cp.RawKernel(SOURCE, "embed")
''',
    ),
    (
        "a part of a warp for each token",
        '''SOURCE = r"""extern "C" __global__ void embed(const int* token, const float* table, float* out, int tokens,
    int width){const float4* t4 = (const float4*)table; float4* o4 = (float4*)out; const int
    w4 = width / 4;
int id = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
int g = w4 < 8 ? 4 : w4 < 16 ? 8 : w4 < 32 ? 16 : 32; int l = id % g; for (int t = id / g; t <
    tokens; t += step / g) { int r = token[t]; for (int k = l; k < w4; k += g) o4[t * w4 + k]
    = r < 0 ? make_float4(0, 0, 0, 0) : t4[r * w4 + k]; }}"""
embed = cp.RawKernel(SOURCE, "embed")
''',
    ),
    (
        "tokens in shared memory",
        '''SOURCE = r"""extern "C" __global__ void embed(const int* token, const float* table, float* out, int tokens,
    int width){const float4* t4 = (const float4*)table; float4* o4 = (float4*)out; const int
    w4 = width / 4;
__shared__ int toks[1024]; for (int base = 0; base < tokens; base += 1024) { int m = min(1024,
    tokens - base); __syncthreads(); for (int k = threadIdx.x; k < m; k += blockDim.x) toks[k]
    = token[base + k]; __syncthreads(); for (int i = blockIdx.x * blockDim.x + threadIdx.x; i
    < m * w4; i += gridDim.x * blockDim.x) { int r = toks[i / w4]; o4[base * w4 + i] = r < 0 ?
    make_float4(0,0,0,0) : t4[r * w4 + i % w4]; } }}"""
embed = cp.RawKernel(SOURCE, "embed")
''',
    ),
]
