"""Right answers to lab11.stats by routes other than the solution's."""

KEY = "lab11.stats"

ROWS = [
    # which way, the solution cell
    (
        "Welford's rule for each lane, then triples joined",
        '''SOURCE = r"""#include <cuda_fp16.h>
extern "C" __global__ void stats(const half* x, float* out, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float count = 0, mean = 0, squares = 0;
    for (int i = lane; i < n / 8; i += 32) {
        uint4 eight = ((const uint4*)(x + row * n))[i];
        for (int j = 0; j < 8; ++j) {
            float v = __half2float(((const half*)&eight)[j]), d = v - mean;
            count += 1;
            mean += d / count;
            squares += d * (v - mean);
        }
    }
    for (int k = 1; k < 32; k *= 2) {
        float c = __shfl_xor_sync(0xffffffff, count, k), m = __shfl_xor_sync(0xffffffff, mean, k);
        float s = __shfl_xor_sync(0xffffffff, squares, k), all = count + c, d = m - mean;
        if (all > 0) {
            mean += d * c / all;
            squares += s + d * d * count * c / all;
        }
        count = all;
    }
    if (lane == 0) {
        out[2 * row] = mean;
        out[2 * row + 1] = 1 / sqrtf(squares / n + 1e-5f);
    }
}"""
stats = cp.RawKernel(SOURCE, "stats")
''',
    ),
    (
        "pairs of halves, shifted by what lane 0 has loaded",
        '''SOURCE = r"""#include <cuda_fp16.h>
extern "C" __global__ void stats(const half* x, float* out, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    float base = 0, s = 0, q = 0;
    for (int first = 0; first < n / 8; first += 32) {
        float4 eight = make_float4(0, 0, 0, 0);
        bool mine = first + lane < n / 8;
        if (mine) eight = reinterpret_cast<const float4*>(x + row * n)[first + lane];
        const half2* pairs = reinterpret_cast<const half2*>(&eight);
        if (first == 0) base = __shfl_sync(0xffffffff, __low2float(pairs[0]), 0);
        if (mine)
            for (int j = 0; j < 4; ++j) {
                float2 v = __half22float2(pairs[j]);
                v.x -= base; v.y -= base;
                s += v.x + v.y;
                q = fmaf(v.x, v.x, fmaf(v.y, v.y, q));
            }
    }
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d), q += __shfl_down_sync(~0u, q, d);
    if (lane == 0) ((float2*)out)[row] = make_float2(base + s / n, rsqrtf((q - s * s / n) / n + 1e-5f));
}"""
stats = cp.RawKernel(SOURCE, "stats")
''',
    ),
    (
        "sums in double",
        '''SOURCE = r"""#include <cuda_fp16.h>
extern "C" __global__ void stats(const half* x, float* out, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    double s = 0, s2 = 0;
    for (int i = lane; i < n / 8; i += 32) {
        uint4 eight = ((const uint4*)(x + row * n))[i];
        for (int j = 0; j < 8; ++j) {
            double v = __half2float(((const half*)&eight)[j]);
            s += v;
            s2 += v * v;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        s += __shfl_xor_sync(0xffffffff, s, d);
        s2 += __shfl_xor_sync(0xffffffff, s2, d);
    }
    if (lane == 1) out[2 * row] = s / n;
    if (lane == 2) out[2 * row + 1] = 1 / sqrt(s2 / n - s / n * (s / n) + 1e-5);
}"""
stats = cp.RawKernel(SOURCE, "stats")
''',
    ),
]
