"""Right answers to lab04.shares by routes other than the solution's."""

KEY = "lab04.shares"

ROWS = [
    # which way, the solution cell
    (
        "warp shuffle sums",
        '''SOURCE = r"""extern "C" __global__ void shares(const int* x, int* parts, int* tickets, float* out, int n){
    __shared__ int w[4]; __shared__ bool last; int t = threadIdx.x, mine = 0;
for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine += x[i];
for (int d = 16; d; d >>= 1) mine += __shfl_down_sync(~0u, mine, d);
if (t % 32 == 0) w[t / 32] = mine; __syncthreads();
if (t == 0) { parts[blockIdx.x] = w[0] + w[1] + w[2] + w[3]; __threadfence(); last =
    atomicAdd(tickets, 1) == gridDim.x - 1; __threadfence(); }
__syncthreads(); if (!last) return; int total = 0; for (int b = 0; b < gridDim.x; b++) total
    += parts[b]; for (int b = t; b < gridDim.x; b += blockDim.x) out[b] = float(parts[b]) /
    float(total); }"""
shares = cp.RawKernel(SOURCE, "shares")
''',
    ),
    (
        "cooperative groups",
        '''SOURCE = r"""#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void shares(const int* x, int* parts, int* tickets, float* out, int n){
    __shared__ int sum;
    __shared__ bool last;
    int t = threadIdx.x, mine = 0;
    if (t == 0) sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine +=
    x[i];
    auto w = cg::tiled_partition<32>(cg::this_thread_block()); int s = cg::reduce(w, mine,
    cg::plus<int>()); if (w.thread_rank() == 0) atomicAdd(&sum, s);
    __syncthreads();
    if (t == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && t < gridDim.x) {
        int total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += parts[b];
        out[t] = (float)parts[t] / total;
    }
}"""
shares = cp.RawKernel(SOURCE, "shares")
''',
    ),
    (
        "tree in shared",
        '''SOURCE = r"""extern "C" __global__ void shares(const int* x, int* parts, int* tickets, float* out, int n){
    __shared__ int s[128]; __shared__ int ticket; int t = threadIdx.x; int mine = 0;
for (int i = blockIdx.x * 128 + t; i < n; i += 128 * gridDim.x) mine += x[i];
s[t] = mine; __syncthreads();
for (int d = 64; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
if (t == 0) { parts[blockIdx.x] = s[0]; __threadfence(); ticket = atomicAdd(tickets, 1);
    __threadfence(); } __syncthreads();
if (ticket == gridDim.x - 1) { int total = 0; for (int b = 0; b < gridDim.x; ++b) total +=
    parts[b]; if (t < gridDim.x) out[t] = __fdividef(parts[t], total); } }"""
shares = cp.RawKernel(SOURCE, "shares")
''',
    ),
    (
        "a barrier that tells",
        '''SOURCE = r"""extern "C" __global__ void shares(const int* x, int* parts, int* tickets, float* out, int n){
    __shared__ int sum;
    __shared__ bool last;
    int t = threadIdx.x, mine = 0;
    if (t == 0) sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine +=
    x[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (t == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
    }
    bool mylast = false; if (t == 0) { mylast = atomicAdd(tickets, 1) == gridDim.x - 1;
    __threadfence(); }
    bool lastb = __syncthreads_or(mylast);
    if (lastb && t < gridDim.x) {
        int total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += parts[b];
        out[t] = (float)parts[t] / total;
    }
}"""
shares = cp.RawKernel(SOURCE, "shares")
''',
    ),
]
