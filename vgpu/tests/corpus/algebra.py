"""Linear algebra, graphs and learning."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

import numpy as np

from vgpu.tests.corpus.row import c

f4, f8, i4 = np.float32, np.float64, np.int32


@c(
    """
    extern "C" __global__ void k(const int* ptr, const int* col, const float* val, const float* x, float* y, float* z, int rows) {
        int thread = blockIdx.x * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
        if (thread < rows) { float s = 0; for (int j = ptr[thread]; j < ptr[thread + 1]; ++j) s += val[j] * __ldg(&x[col[j]]); y[thread] = s; }
        if (warp < rows) {
            float s = 0;
            for (int j = ptr[warp] + lane; j < ptr[warp + 1]; j += 32) s += val[j] * x[col[j]];
            for (int d = 16; d; d /= 2) s += __shfl_xor_sync(0xffffffff, s, d);
            if (!lane) z[warp] = s;
        }
    }""",
    14, 160, rtol=1e-4, atol=1e-5, long=True,
)  # fmt: skip
def sparse_matrix_vector(random):
    a = random.normal(size=(67, 90)) * (random.random((67, 90)) < random.random((67, 1)))
    a[5] = 0
    col = np.concatenate([np.flatnonzero(row) for row in a]).astype(i4)
    val = a[a != 0].astype(f4)
    ptr = np.concatenate([[0], np.cumsum((a != 0).sum(1))]).astype(i4)
    x = random.normal(size=90).astype(f4)
    want = a @ x
    return (ptr, col, val, x, np.zeros(67, f4), np.zeros(67, f4), i4(67)), {4: want, 5: want}


@c(
    """
    extern "C" __global__ void k(float* d, int n) {
        for (int via = 0; via < n; ++via) {
            for (int i = threadIdx.y; i < n; i += blockDim.y)
                for (int j = threadIdx.x; j < n; j += blockDim.x)
                    d[i * n + j] = fminf(d[i * n + j], d[i * n + via] + d[via * n + j]);
            __syncthreads();
        }
    }""",
    1, (16, 7), rtol=1e-6, long=True,
)  # fmt: skip
def floyd_warshall(random):
    d = np.where(random.random((21, 21)) < 0.2, random.random((21, 21)), np.inf).astype(f4)
    np.fill_diagonal(d, 0)
    want = d.copy()
    for via in range(21):
        want = np.minimum(want, want[:, via, None] + want[via])
    return (d, i4(21)), {0: want}


@c(
    """
    extern "C" __global__ void k(const int* ptr, const int* next, int* level, int n) {   // one block, whole search
        __shared__ int front[2][256]; __shared__ int size[2];
        int t = threadIdx.x, now = 0;
        for (int i = t; i < n; i += blockDim.x) level[i] = i ? -1 : 0;
        if (!t) { front[0][0] = 0; size[0] = 1; size[1] = 0; }
        __syncthreads();
        for (int depth = 1; size[now]; ++depth, now ^= 1) {
            for (int f = t; f < size[now]; f += blockDim.x) {
                int v = front[now][f];
                for (int e = ptr[v]; e < ptr[v + 1]; ++e)
                    if (atomicCAS(&level[next[e]], -1, depth) == -1) front[now ^ 1][atomicAdd(&size[now ^ 1], 1)] = next[e];
            }
            __syncthreads();
            if (!t) size[now] = 0;
            __syncthreads();
        }
    }""",
    1, 64,
)  # fmt: skip
def breadth_first_search(random):
    n = 150
    edge = random.random((n, n)) < 0.012
    ptr = np.concatenate([[0], np.cumsum(edge.sum(1))]).astype(i4)
    level, depth = np.full(n, -1, i4), 0
    level[0] = 0
    while (level == depth).any():
        reached = edge[level == depth].any(0) & (level < 0)
        depth += 1
        level[reached] = depth
    return (ptr, np.nonzero(edge)[1].astype(i4), np.zeros(n, i4), i4(n)), {2: level}


@c(
    """
    extern "C" __global__ void k(const float2* points, const float2* centres, int* label, float2* sum, int* count, int n, int clusters) {
        extern __shared__ char raw[];
        float2* c = (float2*)raw; float2* part = c + clusters; int* members = (int*)(part + clusters);
        for (int j = threadIdx.x; j < clusters; j += blockDim.x) { c[j] = centres[j]; part[j] = make_float2(0, 0); members[j] = 0; }
        __syncthreads();
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {
            float2 p = points[i]; float best = INFINITY; int which = 0;
            for (int j = 0; j < clusters; ++j) { float dx = p.x - c[j].x, dy = p.y - c[j].y, d = dx * dx + dy * dy; if (d < best) { best = d; which = j; } }
            label[i] = which;
            atomicAdd(&part[which].x, p.x); atomicAdd(&part[which].y, p.y); atomicAdd(&members[which], 1);
        }
        __syncthreads();
        for (int j = threadIdx.x; j < clusters; j += blockDim.x) { atomicAdd(&sum[j].x, part[j].x); atomicAdd(&sum[j].y, part[j].y); atomicAdd(&count[j], members[j]); }
    }""".replace("INFINITY", "__int_as_float(0x7f800000)"),
    4, 96, shared=5 * 20, rtol=1e-4, atol=1e-4,
)  # fmt: skip
def k_means_step(random):
    p, c = random.normal(size=(301, 2)).astype(f4), random.normal(size=(5, 2)).astype(f4)
    label = ((p[:, None].astype(f8) - c) ** 2).sum(2).argmin(1)
    sums = np.stack([p[label == j].sum(0) for j in range(5)])
    return (p, c, np.zeros(301, i4), np.zeros((5, 2), f4), np.zeros(5, i4), i4(301), i4(5)), {
        2: label, 3: sums, 4: np.bincount(label, minlength=5)}  # fmt: skip


@c(
    """
    extern "C" __global__ void k(double* a, double* b, int n) {   // Gauss with partial pivoting, one block
        __shared__ int pivot;
        int t = threadIdx.x;
        for (int c = 0; c < n; ++c) {
            if (t == 0) { pivot = c; for (int r = c + 1; r < n; ++r) if (fabs(a[r * n + c]) > fabs(a[pivot * n + c])) pivot = r; }
            __syncthreads();
            if (pivot != c) {
                for (int j = t; j < n; j += blockDim.x) { double s = a[c * n + j]; a[c * n + j] = a[pivot * n + j]; a[pivot * n + j] = s; }
                if (t == 0) { double s = b[c]; b[c] = b[pivot]; b[pivot] = s; }
            }
            __syncthreads();
            for (int r = t; r < n; r += blockDim.x) {
                if (r == c) continue;
                double f = a[r * n + c] / a[c * n + c];
                for (int j = c; j < n; ++j) a[r * n + j] -= f * a[c * n + j];
                b[r] -= f * b[c];
            }
            __syncthreads();
        }
        for (int r = t; r < n; r += blockDim.x) b[r] /= a[r * n + r];
    }""",
    1, 40, rtol=1e-9, atol=1e-11, long=True,
)  # fmt: skip
def gauss_elimination(random):
    a, x = random.normal(size=(23, 23)), random.normal(size=23)
    return (a, a @ x, i4(23)), {1: x}


@c(
    """
    extern "C" __global__ void k(const float4* body, float4* acceleration, int n) {
        extern __shared__ float4 tile[];
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0); float3 a = {0, 0, 0};
        for (int base = 0; base < n; base += blockDim.x) {
            int j = base + threadIdx.x;
            tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0);
            __syncthreads();
            #pragma unroll 4
            for (int t = 0; t < blockDim.x; ++t) {
                float3 r = {tile[t].x - me.x, tile[t].y - me.y, tile[t].z - me.z};
                float d = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f, inv = rsqrtf(d), s = tile[t].w * inv * inv * inv;
                a.x += r.x * s; a.y += r.y * s; a.z += r.z * s;
            }
            __syncthreads();
        }
        if (i < n) acceleration[i] = make_float4(a.x, a.y, a.z, 0);
    }""",
    3, 32, shared=32 * 16, rtol=1e-3, atol=1e-3,
)  # fmt: skip
def n_body(random):
    b = random.normal(size=(83, 4)).astype(f4)
    b[:, 3] = np.abs(b[:, 3])
    r = b[None, :, :3].astype(f8) - b[:, None, :3]
    a = (r * (b[None, :, 3] * ((r**2).sum(2) + 0.01) ** -1.5)[..., None]).sum(1)
    return (b, b * 0, i4(83)), {1: np.concatenate([a, np.zeros((83, 1))], 1)}


@c(
    """
    __device__ float block_reduce(float v, bool maximum) {
        __shared__ float s[32];
        int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
        for (int d = warpSize / 2; d; d /= 2) { float o = __shfl_xor_sync(0xffffffff, v, d); v = maximum ? fmaxf(v, o) : v + o; }
        __syncthreads();
        if (lane == 0) s[warp] = v;
        __syncthreads();
        v = s[0];
        for (int w = 1; w < blockDim.x / warpSize; ++w) v = maximum ? fmaxf(v, s[w]) : v + s[w];
        return v;
    }
    extern "C" __global__ void k(const float* in, const float* gamma, const float* beta, float* soft, float* norm, int width) {
        const float* row = in + blockIdx.x * width; float top = -3.4e38f, sum = 0, mean = 0, variance = 0;
        for (int i = threadIdx.x; i < width; i += blockDim.x) { top = fmaxf(top, row[i]); mean += row[i]; }
        top = block_reduce(top, true); mean = block_reduce(mean, false) / width;
        for (int i = threadIdx.x; i < width; i += blockDim.x) { sum += expf(row[i] - top); variance += (row[i] - mean) * (row[i] - mean); }
        sum = block_reduce(sum, false); variance = block_reduce(variance, false) / width;
        for (int i = threadIdx.x; i < width; i += blockDim.x) {
            soft[blockIdx.x * width + i] = expf(row[i] - top) / sum;
            norm[blockIdx.x * width + i] = (row[i] - mean) * rsqrtf(variance + 1e-5f) * gamma[i] + beta[i];
        }
    }""",
    5, 96, rtol=1e-4, atol=1e-6, long=True,
)  # fmt: skip
def softmax_and_layernorm(random):
    x, g, b = random.normal(size=(5, 203)).astype(f4), *random.normal(size=(2, 203)).astype(f4)
    e = np.exp(x - x.max(1, keepdims=True))
    norm = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b
    return (x, g, b, x * 0, x * 0, i4(203)), {3: e / e.sum(1, keepdims=True), 4: norm}


@c(
    """
    extern "C" __global__ void k(const float* a, const float* b, float* c, int m, int n, int p) {   // 4x4 outputs a thread
        __shared__ float as[32][9], bs[8][33];
        int tx = threadIdx.x, ty = threadIdx.y, t = ty * 8 + tx; float acc[4][4] = {};
        for (int base = 0; base < p; base += 8) {
            for (int e = t; e < 256; e += 64) {
                int r = blockIdx.y * 32 + e / 8, q = base + e % 8; as[e / 8][e % 8] = r < m && q < p ? a[r * p + q] : 0;
                int q2 = base + e / 32, s = blockIdx.x * 32 + e % 32; bs[e / 32][e % 32] = q2 < p && s < n ? b[q2 * n + s] : 0;
            }
            __syncthreads();
            #pragma unroll
            for (int q = 0; q < 8; ++q)
                #pragma unroll
                for (int i = 0; i < 4; ++i)
                    #pragma unroll
                    for (int j = 0; j < 4; ++j) acc[i][j] += as[ty * 4 + i][q] * bs[q][tx * 4 + j];
            __syncthreads();
        }
        for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) {
            int r = blockIdx.y * 32 + ty * 4 + i, s = blockIdx.x * 32 + tx * 4 + j;
            if (r < m && s < n) c[r * n + s] = acc[i][j];
        }
    }""",
    (2, 2), (8, 8), rtol=1e-4, atol=1e-4, long=True,
)  # fmt: skip
def register_blocked_matrix_product(random):
    a, b = random.normal(size=(45, 29)).astype(f4), random.normal(size=(29, 50)).astype(f4)
    return (a, b, np.zeros((45, 50), f4), i4(45), i4(50), i4(29)), {2: a @ b}


@c(
    """
    struct Complex { double re, im; __device__ Complex operator*(Complex o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
        __device__ Complex operator+(Complex o) const { return {re + o.re, im + o.im}; } __device__ Complex operator-(Complex o) const { return {re - o.re, im - o.im}; } };
    extern "C" __global__ void k(const Complex* in, Complex* out, int bits) {
        extern __shared__ Complex s[];
        int n = 1 << bits;
        for (int i = threadIdx.x; i < n; i += blockDim.x) s[__brev(i) >> (32 - bits)] = in[blockIdx.x * n + i];
        for (int half = 1; half < n; half *= 2) {
            __syncthreads();
            for (int b = threadIdx.x; b < n / 2; b += blockDim.x) {
                int j = b % half, i = b / half * 2 * half + j; double c, sn; sincospi(-(double)j / half, &sn, &c);
                Complex u = s[i], v = s[i + half] * Complex{c, sn};
                s[i] = u + v; s[i + half] = u - v;
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = s[i];
    }""",
    3, 50, shared=128 * 16, rtol=1e-9, atol=1e-9, long=True,
)  # fmt: skip
def fourier_transform(random):
    x = random.normal(size=(3, 128)) + 1j * random.normal(size=(3, 128))
    return (x, x * 0, i4(7)), {1: np.fft.fft(x)}
