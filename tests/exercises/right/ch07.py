"""Right answers to the exercises of chapter 07 by routes other than the solution's: all of them pass."""

ROWS = [
    # key, which way, the whole source
    (
        "ch07.cost",
        "a loop that counts the steps",
        """import math
def cost(n, threads):
    blocks = math.ceil(n / threads)
    steps, left, additions = 0, threads, 0
    while left > 1:
        left //= 2
        steps += 1
        additions += left
    return steps, additions * blocks, blocks
""",
    ),
    (
        "ch07.first_max",
        "value and place in one word, by shuffles",
        r"""__device__ unsigned long long packed(float value, int place) {
    unsigned bits = __float_as_uint(value);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (unsigned long long)bits << 32 | (0xffffffffu - place);
}
extern "C" __global__ void first_max(const float* x, int* out, int n) {
    __shared__ unsigned long long s[8];
    int t = threadIdx.x;
    unsigned long long best = t < n ? packed(x[blockIdx.x * n + t], t) : 0;
    for (int d = 16; d > 0; d /= 2) {
        unsigned long long other = __shfl_down_sync(0xffffffff, best, d);
        best = other > best ? other : best;
    }
    if (t % 32 == 0) s[t / 32] = best;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 8; ++w) best = s[w] > best ? s[w] : best;
        out[blockIdx.x] = 0xffffffffu - (unsigned)best;
    }
}
""",
    ),
    (
        "ch07.first_max",
        "places only, the values looked up again",
        r"""extern "C" __global__ void first_max(const float* x, int* out, int n) {
    __shared__ int place[256];
    int t = threadIdx.x;
    const float* row = x + blockIdx.x * n;
    place[t] = t;
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d && place[t + d] < n) {
            int a = place[t], b = place[t + d];
            if (a >= n || row[b] > row[a] || (row[b] == row[a] && b < a)) place[t] = b;
        }
    }
    if (t == 0) out[blockIdx.x] = place[0];
}
""",
    ),
    (
        "ch07.depth",
        "rounded up and a logarithm",
        """import math
def depth(n, blocks, threads):
    return math.ceil(n / (blocks * threads)) + math.log2(threads) + blocks
""",
    ),
    (
        "ch07.row_max",
        "the classic: warps beyond the last take minus infinity",
        r"""extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ float shared[32];
    int lane = threadIdx.x & 0x1f, wid = threadIdx.x >> 5;
    float val = __int_as_float(0xff800000);
    for (int i = threadIdx.x; i < n; i += blockDim.x) val = fmaxf(val, x[blockIdx.x * n + i]);
    for (int off = 16; off > 0; off >>= 1) val = fmaxf(val, __shfl_down_sync(0xffffffff, val, off));
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / 32) ? shared[lane] : __int_as_float(0xff800000);
    if (wid == 0) {
        for (int off = 16; off > 0; off >>= 1) val = fmaxf(val, __shfl_down_sync(0xffffffff, val, off));
        if (lane == 0) out[blockIdx.x] = val;
    }
}
""",
    ),
    (
        "ch07.row_max",
        "cooperative groups",
        r"""#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ float s[4];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float best = -__int_as_float(0x7f800000);
    for (int i = block.thread_rank(); i < n; i += block.size()) best = fmaxf(best, x[blockIdx.x * n + i]);
    best = cg::reduce(warp, best, cg::greater<float>());
    if (warp.thread_rank() == 0) s[warp.meta_group_rank()] = best;
    block.sync();
    if (block.thread_rank() == 0) {
        for (int i = 1; i < 4; ++i) best = fmaxf(best, s[i]);
        out[blockIdx.x] = best;
    }
}
""",
    ),
    (
        "ch07.row_max",
        "a shuffle among four lanes",
        r"""extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ float s[4];
    const int t = threadIdx.x;
    float m = x[(long long)blockIdx.x * n];
    for (int i = t; i < n; i += 128) m = m > x[(long long)blockIdx.x * n + i] ? m : x[(long long)blockIdx.x * n + i];
    for (int d = 1; d < 32; d <<= 1) { float o = __shfl_xor_sync(0xffffffffu, m, d); m = m > o ? m : o; }
    if (!(t & 31)) s[t >> 5] = m;
    __syncthreads();
    if (t < 4) {
        m = s[t];
        m = fmaxf(m, __shfl_down_sync(0xf, m, 2));
        m = fmaxf(m, __shfl_down_sync(0xf, m, 1));
        if (t == 0) out[blockIdx.x] = m;
    }
}
""",
    ),
    (
        "ch07.row_max",
        "ordered integers and an atomic",
        r"""__device__ int enc(float f) { int i = __float_as_int(f); return i >= 0 ? i : i ^ 0x7fffffff; }
__device__ float dec(int i) { return __int_as_float(i >= 0 ? i : i ^ 0x7fffffff); }
extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ int best;
    if (threadIdx.x == 0) best = 0x80000000;
    __syncthreads();
    int v = 0x80000000;
    for (int i = threadIdx.x; i < n; i += blockDim.x) v = max(v, enc(x[blockIdx.x * n + i]));
    v = __reduce_max_sync(0xffffffff, v);
    if (threadIdx.x % 32 == 0) atomicMax(&best, v);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = dec(best);
}
""",
    ),
    (
        "ch07.row_max",
        "two running greatest, early return of idle warps",
        r"""extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ float s[4];
    const float* r = x + blockIdx.x * n;
    float a = r[0], b = r[n - 1];
    int i = threadIdx.x;
    for (; i + 128 < n; i += 256) { a = fmaxf(a, r[i]); b = fmaxf(b, r[i + 128]); }
    if (i < n) a = fmaxf(a, r[i]);
    a = fmaxf(a, b);
    for (int d = 16; d > 0; d /= 2) a = fmaxf(a, __shfl_xor_sync(0xffffffff, a, d));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    a = s[threadIdx.x & 3];
    a = fmaxf(a, __shfl_xor_sync(0xffffffff, a, 1));
    a = fmaxf(a, __shfl_xor_sync(0xffffffff, a, 2));
    if (threadIdx.x == 0) out[blockIdx.x] = a;
}
""",
    ),
    (
        "ch07.dot",
        "a tree in shared memory",
        r"""from numba import float32
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    acc = 0.0
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        acc += x[i] * y[i]
    s[t] = acc
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half >>= 1
    if t == 0:
        cuda.atomic.add(out, 0, s[0])
""",
    ),
    (
        "ch07.dot",
        "a device function",
        r"""import numpy as np
@cuda.jit(device=True)
def warp_sum(v):
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xffffffff, v, d)
    return v
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(32, dtype=np.float64)
    start, stride = cuda.grid(1), cuda.gridsize(1)
    v = 0.0
    for k in range(start, x.size, stride):
        v += np.float64(x[k]) * np.float64(y[k])
    v = warp_sum(v)
    lane, wid = cuda.laneid, cuda.threadIdx.x // cuda.warpsize
    if lane == 0:
        s[wid] = v
    cuda.syncthreads()
    if wid == 0:
        v = s[lane] if lane < cuda.blockDim.x // 32 else 0.0
        v = warp_sum(v)
        if lane == 0:
            cuda.atomic.add(out, 0, v)
""",
    ),
    (
        "ch07.dot",
        "an atomic in shared memory a warp",
        r"""import numpy as np
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(1, "float32")
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    v = np.float32(0.0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v += x[i] * y[i]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xffffffff, v, d)
    if t & 31 == 0:
        cuda.atomic.add(s, 0, v)
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, s[0])
""",
    ),
    (
        "ch07.dot",
        "fma",
        r"""import math, numpy as np
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(shape=(4,), dtype=np.float32)
    bx, tx = cuda.blockIdx.x, cuda.threadIdx.x
    acc = np.float32(0)
    for i in range(bx * 128 + tx, x.size, 512):
        acc = cuda.fma(x[i], y[i], acc)
    for k in range(5):
        acc += cuda.shfl_down_sync(-1, acc, 16 >> k)
    if tx % 32 == 0:
        s[tx // 32] = acc
    cuda.syncthreads()
    if tx < 32:
        v = s[tx & 3]
        v += cuda.shfl_xor_sync(-1, v, 2)
        v += cuda.shfl_xor_sync(-1, v, 1)
        if tx == 0:
            cuda.atomic.add(out, 0, v)
""",
    ),
    (
        "ch07.dot",
        "thread 0 adds 128",
        r"""@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(128, "float32")
    t = cuda.threadIdx.x
    v = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v += x[i] * y[i]
    s[t] = v
    cuda.syncthreads()
    if t == 0:
        v = 0.0
        for k in range(128):
            v += s[k]
        cuda.atomic.add(out, 0, v)
""",
    ),
    (
        "ch07.exclusive",
        "shuffles, and the sums of the warps before",
        r"""extern "C" __global__ void exclusive(const int* x, int* out) {
    __shared__ int sums[32];
    int t = threadIdx.x, lane = t & 31, w = t >> 5, n = blockDim.x;
    int v = x[t], inc = v;
    unsigned mask = __activemask();
    for (int d = 1; d < 32; d <<= 1) { int o = __shfl_up_sync(mask, inc, d); if (lane >= d) inc += o; }
    if (lane == 31 || t == n - 1) sums[w] = inc;
    __syncthreads();
    int base = 0;
    for (int k = 0; k < w; ++k) base += sums[k];
    out[t] = base + inc - v;
}
""",
    ),
    (
        "ch07.exclusive",
        "two arrays in turn",
        r"""extern "C" __global__ void exclusive(const int* x, int* out) {
    __shared__ int temp[2 * 1024];
    int n = blockDim.x, thid = threadIdx.x, pout = 0, pin = 1;
    temp[pout * n + thid] = (thid > 0) ? x[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout; pin = 1 - pout;
        if (thid >= offset) temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    out[thid] = temp[pout * n + thid];
}
""",
    ),
    (
        "ch07.exclusive",
        "Blelloch's, padded",
        r"""extern "C" __global__ void exclusive(const int* x, int* out) {
    __shared__ int s[1024];
    int t = threadIdx.x, n = blockDim.x, size = 1;
    while (size < n) size *= 2;
    for (int k = t; k < size; k += n) s[k] = k < n ? x[k] : 0;
    for (int d = 1; d < size; d *= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k < size) s[k] += s[k - d];
    }
    __syncthreads();
    if (t == 0) s[size - 1] = 0;
    for (int d = size / 2; d > 0; d /= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k < size) { int left = s[k - d]; s[k - d] = s[k]; s[k] += left; }
    }
    __syncthreads();
    out[t] = s[t];
}
""",
    ),
    (
        "ch07.exclusive",
        "warp 0 scans the warps' sums",
        r"""struct Scan { int inclusive, own; };
__device__ int warp_inclusive(int v, int lane, unsigned mask) {
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) { int l = __shfl_up_sync(mask, v, d); v += lane >= d ? l : 0; }
    return v;
}
extern "C" __global__ void exclusive(const int* __restrict__ x, int* __restrict__ out) {
    __shared__ int s[32];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, n = blockDim.x;
    const int lanes = min(32, n - warp * 32), warps = (n + 31) / 32;
    const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1u;
    Scan a; a.own = x[t]; a.inclusive = warp_inclusive(a.own, lane, mask);
    if (lane == lanes - 1) s[warp] = a.inclusive;
    __syncthreads();
    if (warp == 0) {
        int v = lane < warps ? s[lane] : 0;
        v = warp_inclusive(v, lane, mask);
        if (lane < warps) s[lane] = v;
    }
    __syncthreads();
    out[t] = a.inclusive - a.own + (warp ? s[warp - 1] : 0);
}
""",
    ),
    (
        "ch07.exclusive",
        "one warp rakes",
        r"""extern "C" __global__ void exclusive(const int* x, int* out) {
    __shared__ int s[1024];
    __shared__ int part[32];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = x[t];
    __syncthreads();
    int each = (n + 31) / 32;
    if (t < 32) {
        int sum = 0;
        for (int k = t * each; k < min(n, (t + 1) * each); ++k) sum += s[k];
        part[t] = sum;
        __syncwarp(__activemask());
        int before = 0;
        for (int k = 0; k < t; ++k) before += part[k];
        for (int k = t * each; k < min(n, (t + 1) * each); ++k) { int v = s[k]; s[k] = before; before += v; }
    }
    __syncthreads();
    out[t] = s[t];
}
""",
    ),
    (
        "ch07.cost",
        "steps by halving",
        """def cost(n, threads):
    steps, left = 0, threads
    while left > 1:
        left //= 2
        steps += 1
    blocks = -(-n // threads)
    return steps, blocks * threads - blocks, blocks""",
    ),
    (
        "ch07.depth",
        "steps by halving",
        """def depth(n, blocks, threads):
    loop = -(-n // (blocks * threads))
    tree = 0
    while 2**tree < threads:
        tree += 1
    return loop + tree + blocks""",
    ),
]
