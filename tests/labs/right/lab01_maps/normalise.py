"""Right answers to lab01.normalise by routes other than the solution's."""

KEY = "lab01.normalise"

ROWS = [
    # which way, the solution cell
    (
        "four at once, a channel for each",
        '''SOURCE = r"""extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){int i = blockIdx.x * blockDim.x +
    threadIdx.x; int step = gridDim.x * blockDim.x; const float4* x4 = (const float4*)x;
    float4* o4 = (float4*)out; int n4 = n / 4; auto f = [&](float v, int j) { int c = j /
    pixels % channels; return (v - mean[c]) * scale[c]; }; for (int j = i; j < n4; j += step)
    { float4 v = x4[j]; o4[j] = make_float4(f(v.x, 4*j), f(v.y, 4*j+1), f(v.z, 4*j+2), f(v.w,
    4*j+3)); } for (int j = 4 * n4 + i; j < n; j += step) out[j] = f(x[j], j);}"""
normalise = cp.RawKernel(SOURCE, "normalise")
''',
    ),
    (
        "four at once where planes allow it",
        '''SOURCE = r"""extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){int i = blockIdx.x * blockDim.x +
    threadIdx.x; int step = gridDim.x * blockDim.x; bool ok = pixels % 4 == 0; if (ok) { const
    float4* x4 = (const float4*)x; float4* o4 = (float4*)out; for (; i < n / 4; i += step) {
    int c = 4 * i / pixels % channels; float m = mean[c], s = scale[c]; float4 v = x4[i]; v.x
    = (v.x - m) * s; v.y = (v.y - m) * s; v.z = (v.z - m) * s; v.w = (v.w - m) * s; o4[i] = v;
    } } else for (; i < n; i += step) { int c = i / pixels % channels; out[i] = (x[i] -
    mean[c]) * scale[c]; }}"""
normalise = cp.RawKernel(SOURCE, "normalise")
''',
    ),
    (
        "plane after plane",
        '''SOURCE = r"""extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){int planes = n / pixels; for (int p = 0; p <
    planes; ++p) { float m = mean[p % channels], s = scale[p % channels]; for (int k =
    blockIdx.x * blockDim.x + threadIdx.x; k < pixels; k += gridDim.x * blockDim.x) out[p *
    pixels + k] = (x[p * pixels + k] - m) * s; }}"""
normalise = cp.RawKernel(SOURCE, "normalise")
''',
    ),
    (
        "shared means",
        '''SOURCE = r"""extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){__shared__ float m[64], s[64]; for (int k =
    threadIdx.x; k < channels; k += blockDim.x) { m[k] = mean[k]; s[k] = scale[k]; }
    __syncthreads(); int i = blockIdx.x * blockDim.x + threadIdx.x; int step = gridDim.x *
    blockDim.x; for (; i < n; i += step) { int c = i / pixels % channels; out[i] = (x[i] -
    m[c]) * s[c]; }}"""
normalise = cp.RawKernel(SOURCE, "normalise")
''',
    ),
    (
        "a run for each block",
        '''SOURCE = r"""extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){int each = (n + gridDim.x - 1) / gridDim.x;
    int end = min(n, (int)(blockIdx.x + 1) * each); for (int i = blockIdx.x * each +
    threadIdx.x; i < end; i += blockDim.x) { int c = i / pixels % channels; out[i] = (x[i] -
    mean[c]) * scale[c]; }}"""
normalise = cp.RawKernel(SOURCE, "normalise")
''',
    ),
]
