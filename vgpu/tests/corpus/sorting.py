"""Sorting, scanning and searching: barriers and shared memory in loops."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

import numpy as np

from vgpu.tests.corpus.row import c

f4, f8, i4, u4 = np.float32, np.float64, np.int32, np.uint32


@c(
    """
    extern "C" __global__ void k(float* data, int n) {
        extern __shared__ float s[];
        for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = data[i];
        for (int size = 2; size <= n; size <<= 1)
            for (int stride = size >> 1; stride > 0; stride >>= 1) {
                __syncthreads();
                for (int i = threadIdx.x; i < n; i += blockDim.x) {
                    int j = i ^ stride;
                    if (j > i) {
                        bool up = (i & size) == 0;
                        if ((s[i] > s[j]) == up) { float t = s[i]; s[i] = s[j]; s[j] = t; }
                    }
                }
            }
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = s[i];
    }""",
    1, 96, shared=256 * 4,
)  # fmt: skip
def bitonic_sort(random):
    x = random.normal(size=256).astype(f4)
    return (x, i4(256)), {0: np.sort(x)}


@c(
    """
    extern "C" __global__ void k(int* data, int n) {
        __shared__ int swapped;
        int i = threadIdx.x;
        do {
            if (i == 0) swapped = 0;
            __syncthreads();
            for (int phase = 0; phase < 2; ++phase) {
                int j = 2 * i + phase;
                if (j + 1 < n && data[j] > data[j + 1]) { int t = data[j]; data[j] = data[j + 1]; data[j + 1] = t; swapped = 1; }
                __syncthreads();
            }
        } while (__syncthreads_or(swapped));
    }""",
    1, 50,
)  # fmt: skip
def odd_even_sort(random):
    x = random.integers(-99, 99, 91).astype(i4)
    return (x, i4(91)), {0: np.sort(x)}


@c(
    """
    #define T 128
    extern "C" __global__ void k(unsigned* keys, unsigned* out, int n) {
        __shared__ unsigned a[T], b[T]; __shared__ int scan[2][T]; unsigned *from = a, *to = b;
        int t = threadIdx.x;
        a[t] = t < n ? keys[t] : 0xffffffffu;
        __syncthreads();
        for (int bit = 0; bit < 32; ++bit) {
            int zero = !((from[t] >> bit) & 1), in = 0;
            scan[0][t] = zero; __syncthreads();
            for (int d = 1; d < T; d <<= 1, in ^= 1) { scan[in ^ 1][t] = scan[in][t] + (t >= d ? scan[in][t - d] : 0); __syncthreads(); }
            int zeros = scan[in][T - 1], before = scan[in][t] - zero;
            to[zero ? before : zeros + t - before] = from[t];
            __syncthreads();
            unsigned* swap = from; from = to; to = swap;
        }
        if (t < n) out[t] = from[t];
    }""",
    1, 128, long=True,
)  # fmt: skip
def radix_sort(random):
    x = random.integers(0, 2**32, 113).astype(u4)
    return (x, x * 0, i4(113)), {1: np.sort(x)}


@c(
    """
    extern "C" __global__ void k(const int* in, int* out, int n) {   // Blelloch, exclusive, 2 elements a thread
        extern __shared__ int temp[];
        int t = threadIdx.x, offset = 1, size = 2 * blockDim.x;
        temp[2 * t] = 2 * t < n ? in[2 * t] : 0; temp[2 * t + 1] = 2 * t + 1 < n ? in[2 * t + 1] : 0;
        for (int d = size >> 1; d > 0; d >>= 1) {
            __syncthreads();
            if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
            offset *= 2;
        }
        if (t == 0) temp[size - 1] = 0;
        for (int d = 1; d < size; d *= 2) {
            offset >>= 1;
            __syncthreads();
            if (t < d) { int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = temp[a]; temp[a] = temp[b]; temp[b] += v; }
        }
        __syncthreads();
        if (2 * t < n) out[2 * t] = temp[2 * t];
        if (2 * t + 1 < n) out[2 * t + 1] = temp[2 * t + 1];
    }""",
    1, 64, shared=128 * 4,
)  # fmt: skip
def blelloch_scan(random):
    x = random.integers(0, 50, 101).astype(i4)
    return (x, x * 0, i4(101)), {1: np.cumsum(x) - x}


@c(
    """
    extern "C" __global__ void k(const float* in, float* out, int n) {
        __shared__ float warp_sums[32];
        int i = threadIdx.x, lane = i & 31, warp = i >> 5;
        float v = i < n ? in[i] : 0;
        #pragma unroll
        for (int d = 1; d < 32; d <<= 1) { float o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
        if (lane == 31) warp_sums[warp] = v;
        __syncthreads();
        if (warp == 0) {
            float w = lane < blockDim.x / 32 ? warp_sums[lane] : 0;
            for (int d = 1; d < 32; d <<= 1) { float o = __shfl_up_sync(~0u, w, d); if (lane >= d) w += o; }
            warp_sums[lane] = w;
        }
        __syncthreads();
        if (warp) v += warp_sums[warp - 1];
        if (i < n) out[i] = v;
    }""",
    1, 1024, rtol=1e-5,
)  # fmt: skip
def warp_shuffle_scan(random):
    x = random.random(1001).astype(f4)
    return (x, x * 0, i4(1001)), {1: np.cumsum(x, dtype=f8)}


@c(
    """
    __device__ int lower(const int* a, int n, int v) { int lo = 0, hi = n; while (lo < hi) { int m = (lo + hi) >> 1; if (a[m] < v) lo = m + 1; else hi = m; } return lo; }
    __device__ int upper(const int* a, int n, int v) { int lo = 0, hi = n; while (lo < hi) { int m = (lo + hi) >> 1; if (a[m] <= v) lo = m + 1; else hi = m; } return lo; }
    extern "C" __global__ void k(const int* a, int na, const int* b, int nb, int* out) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < na) out[i + lower(b, nb, a[i])] = a[i];
        else if (i < na + nb) { int j = i - na; out[j + upper(a, na, b[j])] = b[j]; }
    }""",
    3, 128,
)  # fmt: skip
def merge_by_binary_search(random):
    a, b = np.sort(random.integers(0, 80, 151)).astype(i4), np.sort(random.integers(0, 80, 203)).astype(i4)
    return (a, i4(151), b, i4(203), np.zeros(354, i4)), {4: np.sort(np.concatenate([a, b]))}


@c(
    """
    extern "C" __global__ void k(const char* a, const char* b, int na, int nb, int* out) {   // edit distance, wavefront
        extern __shared__ int d[];
        int* before = d; int* last = d + na + 1; int* now = d + 2 * (na + 1);
        for (int s = 0; s <= na + nb; ++s) {
            for (int i = threadIdx.x; i <= na; i += blockDim.x) {
                int j = s - i;
                if (j < 0 || j > nb) continue;
                now[i] = !i ? j : !j ? i : min(min(last[i - 1], last[i]) + 1, before[i - 1] + (a[i - 1] != b[j - 1]));
            }
            __syncthreads();
            int* t = before; before = last; last = now; now = t;
        }
        if (!threadIdx.x) *out = last[na];
    }""",
    1, 32, shared=3 * 42 * 4,
)  # fmt: skip
def edit_distance_by_wavefronts(random):
    a, b = random.integers(97, 101, 41).astype(np.int8), random.integers(97, 101, 53).astype(np.int8)
    row = list(range(54))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
        row = new
    return (a, b, i4(41), i4(53), np.zeros(1, i4)), {4: [row[-1]]}
