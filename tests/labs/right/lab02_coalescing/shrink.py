"""Right answers to lab02.shrink by routes other than the solution's."""

KEY = "lab02.shrink"

ROWS = [
    # which way, the solution cell
    (
        "two pairs a thread",
        '''SOURCE = r"""extern "C" __global__ void shrink(const float* x, float* out, int rows, int columns, int
    pitch, int out_pitch){int c = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y *
    blockDim.y + threadIdx.y;
int h = columns / 2; if (y >= rows) return; int k = 2 * c; if (k + 1 < h) { float4 p = ((const
    float4*)(x + y * pitch))[c]; ((float2*)(out + y * out_pitch))[c] = make_float2(0.5f * (p.x
    + p.y), 0.5f * (p.z + p.w)); } else if (k < h) { float2 p = ((const float2*)(x + y *
    pitch))[k]; out[y * out_pitch + k] = 0.5f * (p.x + p.y); }}"""
shrink = cp.RawKernel(SOURCE, "shrink")
''',
    ),
    (
        "through shared memory",
        '''SOURCE = r"""extern "C" __global__ void shrink(const float* x, float* out, int rows, int columns, int
    pitch, int out_pitch){__shared__ float s[8][65]; int ty = threadIdx.y, tx = threadIdx.x, y
    = blockIdx.y * 8 + ty, c0 = blockIdx.x * 64; if (y < rows) for (int k = tx; k < 64; k +=
    32) if (c0 + k < columns) s[ty][k] = x[y * pitch + c0 + k]; __syncthreads(); int c =
    blockIdx.x * 32 + tx; if (y < rows && c < columns / 2) out[y * out_pitch + c] = 0.5f *
    (s[ty][2 * tx] + s[ty][2 * tx + 1]);}"""
shrink = cp.RawKernel(SOURCE, "shrink")
''',
    ),
    (
        "shuffle",
        '''SOURCE = r"""extern "C" __global__ void shrink(const float* x, float* out, int rows, int columns, int
    pitch, int out_pitch){int c = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y *
    blockDim.y + threadIdx.y;
int lane = threadIdx.x, c0 = blockIdx.x * 64; float a = 0, b = 0; if (y < rows) { if (c0 +
    lane < columns) a = x[y * pitch + c0 + lane]; if (c0 + 32 + lane < columns) b = x[y *
    pitch + c0 + 32 + lane]; } float sa = a + __shfl_down_sync(~0u, a, 1), sb = b +
    __shfl_down_sync(~0u, b, 1); float lo = __shfl_sync(~0u, sa, 2 * lane & 31), hi =
    __shfl_sync(~0u, sb, 2 * lane & 31); float v = lane < 16 ? lo : hi; if (y < rows && c <
    columns / 2) out[y * out_pitch + c] = 0.5f * v;}"""
shrink = cp.RawKernel(SOURCE, "shrink")
''',
    ),
    (
        "pixels by number",
        '''SOURCE = r"""extern "C" __global__ void shrink(const float* x, float* out, int rows, int columns, int
    pitch, int out_pitch){int t = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.y *
    32 + threadIdx.x; int h = columns / 2; for (int i = t; i < rows * h; i += gridDim.x *
    gridDim.y * 256) { int y = i / h, c = i % h; float2 p = ((const float2*)(x + y *
    pitch))[c]; out[y * out_pitch + c] = .5f * (p.x + p.y); }}"""
shrink = cp.RawKernel(SOURCE, "shrink")
''',
    ),
]
