"""Right answers to lab11.unscale by routes other than the solution's."""

KEY = "lab11.unscale"

HEAD = """#include <cuda_fp16.h>
extern "C" __global__ void unscale(const half* g, float* out, int n, float scale) {"""

ROWS = [
    # which way, the solution cell
    (
        "divided, tested by the bits, and stored plainly by a block",
        f'''SOURCE = r"""{HEAD}
    int bad = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {{
        ushort4 four = ((const ushort4*)g)[i];
        bad |= (four.x & 0x7c00) == 0x7c00 || (four.y & 0x7c00) == 0x7c00;
        bad |= (four.z & 0x7c00) == 0x7c00 || (four.w & 0x7c00) == 0x7c00;
        ((float4*)out)[i] = make_float4(
            __half2float(__ushort_as_half(four.x)) / scale, __half2float(__ushort_as_half(four.y)) / scale,
            __half2float(__ushort_as_half(four.z)) / scale, __half2float(__ushort_as_half(four.w)) / scale);
    }}
    bad = __syncthreads_count(bad);
    if (bad > 0 && threadIdx.x == 0) out[n] = 1;
}}"""
unscale = cp.RawKernel(SOURCE, "unscale")
''',
    ),
    (
        "the vote in shared memory, difference of a number with itself",
        f'''SOURCE = r"""{HEAD}
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    float check = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; 4 * i < n; i += gridDim.x * blockDim.x) {{
        half2 h[2];
        *(uint2*)h = *(const uint2*)(g + 4 * i);
        float2 a = __half22float2(h[0]), b = __half22float2(h[1]);
        check += (a.x - a.x) + (a.y - a.y) + (b.x - b.x) + (b.y - b.y);
        *(float4*)(out + 4 * i) = make_float4(a.x / scale, a.y / scale, b.x / scale, b.y / scale);
    }}
    if (!(check == 0)) atomicOr(&found, 1);
    __syncthreads();
    if (threadIdx.x == 31 && found) atomicMax((int*)&out[n], __float_as_int(1.0f));
}}"""
unscale = cp.RawKernel(SOURCE, "unscale")
''',
    ),
    (
        "whole warps, each by its first lane",
        f'''SOURCE = r"""{HEAD}
    bool bad = false;
    int lane = threadIdx.x % 32, all = gridDim.x * blockDim.x;
    for (int first = blockIdx.x * blockDim.x + threadIdx.x - lane; 4 * first < n; first += all) {{
        int i = first + lane;
        float v[4] = {{}};
        if (4 * i < n) {{
            uint2 four = __ldg((const uint2*)g + i);
            for (int j = 0; j < 4; ++j) v[j] = __half2float(((half*)&four)[j]);
        }}
        for (int j = 0; j < 4; ++j) bad |= isinf(v[j]) || v[j] != v[j];
        if (4 * i < n) ((float4*)out)[i] = make_float4(v[0] / scale, v[1] / scale, v[2] / scale, v[3] / scale);
    }}
    bool any = __syncthreads_or(__any_sync(0xffffffff, bad));
    if (any && threadIdx.x == 0) atomicExch(out + n, 1.0f);
}}"""
unscale = cp.RawKernel(SOURCE, "unscale")
''',
    ),
]
