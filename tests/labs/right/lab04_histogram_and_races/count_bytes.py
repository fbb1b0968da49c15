"""Right answers to lab04.count_bytes by routes other than the solution's."""

KEY = "lab04.count_bytes"

ROWS = [
    # which way, the solution cell
    (
        "lanes that match",
        '''SOURCE = r"""extern "C" __global__ void count_bytes(const unsigned* words, int* counts, int n){ __shared__
    int mine[256]; int t = threadIdx.x; for (int k = t; k < 256; k += 128) mine[k] = 0;
    __syncthreads();
for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) { unsigned w =
    words[i];
for (int s = 0; s < 32; s += 8) { unsigned b = w >> s & 255; unsigned a = __activemask();
    unsigned same = __match_any_sync(a, b); if (__ffs(same) - 1 == (t & 31))
    atomicAdd(&mine[b], __popc(same)); } }
__syncthreads(); for (int k = t; k < 256; k += 128) if (mine[k]) atomicAdd(&counts[k],
    mine[k]); }"""
count_bytes = cp.RawKernel(SOURCE, "count_bytes")
''',
    ),
    (
        "copies of a bin side by side",
        '''SOURCE = r"""extern "C" __global__ void count_bytes(const unsigned* words, int* counts, int n){__shared__
    int mine[4 * 256]; int t = threadIdx.x;
for (int k = t; k < 4 * 256; k += blockDim.x) mine[k] = 0;
__syncthreads();
for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) { unsigned word
    = words[i];
for (int shift = 0; shift < 32; shift += 8) atomicAdd(&mine[(word >> shift & 255) * 4 + t %
    4], 1); }
__syncthreads();
for (int k = t; k < 256; k += blockDim.x) atomicAdd(&counts[k], mine[4 * k] + mine[4 * k + 1]
    + mine[4 * k + 2] + mine[4 * k + 3]);
}"""
count_bytes = cp.RawKernel(SOURCE, "count_bytes")
''',
    ),
    (
        "uchar4",
        '''SOURCE = r"""extern "C" __global__ void count_bytes(const unsigned* words, int* counts, int n){__shared__
    int mine[4 * 257]; int t = threadIdx.x;
for (int k = t; k < 4 * 257; k += blockDim.x) mine[k] = 0;
__syncthreads();
for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) { uchar4 v =
    reinterpret_cast<const uchar4*>(words)[i]; int* m = mine + (t & 3) * 257; atomicAdd(m +
    v.x, 1); atomicAdd(m + v.y, 1); atomicAdd(m + v.z, 1); atomicAdd(m + v.w, 1); }
__syncthreads();
for (int k = t; k < 256; k += blockDim.x) atomicAdd(&counts[k], mine[k] + mine[257 + k] +
    mine[514 + k] + mine[771 + k]);
}"""
count_bytes = cp.RawKernel(SOURCE, "count_bytes")
''',
    ),
    (
        "uint4 vector loads",
        '''SOURCE = r"""extern "C" __global__ void count_bytes(const unsigned* words, int* counts, int n){__shared__
    int mine[4 * 257]; int t = threadIdx.x;
for (int k = t; k < 4 * 257; k += blockDim.x) mine[k] = 0;
__syncthreads();
auto one = [&](unsigned word) { for (int shift = 0; shift < 32; shift += 8) atomicAdd(&mine[t
    % 4 * 257 + (word >> shift & 255)], 1); }; int id = blockIdx.x * blockDim.x + t, step =
    gridDim.x * blockDim.x; for (int i = id; i < n / 4; i += step) { uint4 v = ((const
    uint4*)words)[i]; one(v.x); one(v.y); one(v.z); one(v.w); } for (int i = n / 4 * 4 + id; i
    < n; i += step) one(words[i]);
__syncthreads();
for (int k = t; k < 256; k += blockDim.x) atomicAdd(&counts[k], mine[k] + mine[257 + k] +
    mine[514 + k] + mine[771 + k]);
}"""
count_bytes = cp.RawKernel(SOURCE, "count_bytes")
''',
    ),
]
