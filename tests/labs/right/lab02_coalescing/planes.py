"""Right answers to lab02.planes by routes other than the solution's."""

KEY = "lab02.planes"

ROWS = [
    # which way, the solution cell
    (
        "a structure of 16 bytes",
        '''SOURCE = r"""struct __align__(16) Rec { float x, y, z, w; };
extern "C" __global__ void planes(const float* records, float* out, int n){int i = blockIdx.x
    * blockDim.x + threadIdx.x;
if (i < n) { Rec r = reinterpret_cast<const Rec*>(records)[i]; float* p = out + i; *p = r.x; p
    += n; *p = r.y; p += n; *p = r.z; p += n; *p = r.w; } }"""
planes = cp.RawKernel(SOURCE, "planes")
''',
    ),
    (
        "floats through shared memory",
        '''SOURCE = r"""extern "C" __global__ void planes(const float* records, float* out, int n){__shared__ float
    s[4][129]; int first = blockIdx.x * blockDim.x * 4; for (int k = threadIdx.x; k < 512; k
    += 128) if (first + k < 4 * n) s[k % 4][k / 4] = records[first + k]; __syncthreads();int i
    = blockIdx.x * blockDim.x + threadIdx.x;
if (i < n) for (int c = 0; c < 4; ++c) out[c * n + i] = s[c][threadIdx.x];}"""
planes = cp.RawKernel(SOURCE, "planes")
''',
    ),
    (
        "turned by shuffles",
        '''SOURCE = r"""extern "C" __global__ void planes(const float* records, float* out, int n){int i = blockIdx.x
    * blockDim.x + threadIdx.x;
 int lane = threadIdx.x & 31; int w0 = (blockIdx.x * blockDim.x + (threadIdx.x & ~31)) * 4;
    float v[4]; for (int j = 0; j < 4; ++j) { int k = w0 + 32 * j + lane; v[j] = k < 4 * n ?
    records[k] : 0.f; } for (int c = 0; c < 4; ++c) { int src = (4 * lane + c); float r = 0;
    for (int j = 0; j < 4; ++j) { float q = __shfl_sync(~0u, v[j], src & 31); if ((src >> 5)
    == j) r = q; } if (i < n) out[c * n + i] = r; } }"""
planes = cp.RawKernel(SOURCE, "planes")
''',
    ),
    (
        "16 bytes as integers",
        '''SOURCE = r"""extern "C" __global__ void planes(const float* records, float* out, int n){int i = blockIdx.x
    * blockDim.x + threadIdx.x;
if (i < n) { float f[4]; *(int4*)f = ((const int4*)records)[i]; for (int c = 0; c < 4; c++)
    out[n * c + i] = f[c]; } }"""
planes = cp.RawKernel(SOURCE, "planes")
''',
    ),
]
