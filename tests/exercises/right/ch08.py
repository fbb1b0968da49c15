"""Right answers to the exercises of chapter 08 by routes other than the solution's: all of them pass."""

ROWS = [
    # key, which way, the whole source
    (
        "ch08.sides",
        "warp parity",
        """@cuda.jit
def sides(x, out):
    t = cuda.threadIdx.x
    warp, lane = divmod(t, 32)
    odd = warp % 2
    i = cuda.blockIdx.x * cuda.blockDim.x + (warp // 2) * 64 + 2 * lane + odd
    if i >= x.size:
        return
    v = x[i]
    if odd == 1:
        for _ in range(64):
            v = 1.01 * v - 1.0
    else:
        for _ in range(64):
            v = 0.99 * v + 1.0
    out[i] = v
""",
    ),
    (
        "ch08.sides",
        "coefficients selected, no branch",
        """@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        a, b = (0.99, 1.0) if i % 2 == 0 else (1.01, -1.0)
        v = x[i]
        for _ in range(64):
            v = a * v + b
        out[i] = v
""",
    ),
    (
        "ch08.sides",
        "coefficients arithmetically",
        """import numpy as np
@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        odd = i & 1
        a = 0.99 + 0.02 * odd
        b = 1.0 - 2.0 * odd
        v = np.float64(x[i])
        for _ in range(64):
            v = a * v + b
        out[i] = v
""",
    ),
    (
        "ch08.sides",
        "cuda.selp coefficients",
        """@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        a = cuda.selp(i % 2 == 0, 0.99, 1.01)
        b = cuda.selp(i % 2 == 0, 1.0, -1.0)
        v = x[i]
        for _ in range(64):
            v = a * v + b
        out[i] = v
""",
    ),
    (
        "ch08.sides",
        "float32 halves",
        """import numpy as np
@cuda.jit
def sides(x, out):
    t, half = cuda.threadIdx.x, 64
    even = t < half
    i = cuda.blockIdx.x * 128 + (2 * t if even else 2 * (t - half) + 1)
    if i < x.size:
        v = x[i]
        if even:
            for k in range(64):
                v = np.float32(0.99) * v + np.float32(1)
        else:
            for k in range(64):
                v = np.float32(1.01) * v - np.float32(1)
        out[i] = v
""",
    ),
    (
        "ch08.rows",
        "from the longest, unrolled",
        """extern "C" __global__
void row_sums(const int* __restrict__ first, const float* __restrict__ x,
              const int* __restrict__ order, float* out, int rows) {
    const int t = threadIdx.x + blockDim.x * blockIdx.x;
    if (t < rows) {
        const int row = __ldg(&order[rows - 1 - t]);
        const int end = __ldg(&first[row + 1]);
        float s = 0;
        #pragma unroll 4
        for (int k = __ldg(&first[row]); k < end; k++) s += __ldg(&x[k]);
        out[row] = s;
    }
}
""",
    ),
    (
        "ch08.rows",
        "grid-stride, pointers, double",
        """struct Range { const float *begin, *end; };
__device__ Range row_of(const int* first, const float* x, int r) { return {x + first[r], x + first[r + 1]}; }
extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < rows; t += gridDim.x * blockDim.x) {
        int r = order[t];
        Range p = row_of(first, x, r);
        double sum = 0;
        while (p.begin != p.end) sum += *p.begin++;
        out[r] = (float)sum;
    }
}
""",
    ),
    (
        "ch08.rows",
        "two accumulators",
        """extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    int row = order[t], k = first[row], end = first[row + 1];
    float a = 0, b = 0;
    for (; k + 1 < end; k += 2) { a += x[k]; b += x[k + 1]; }
    if (k < end) a += x[k];
    out[row] = a + b;
}
""",
    ),
    (
        "ch08.rows",
        "lambda and template",
        """template <typename F> __device__ float fold(int a, int b, F f) {
    float s = 0.f; for (int k = a; k < b; ++k) s = f(s, k); return s;
}
extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    auto row = order[t];
    out[row] = fold(first[row], first[row + 1], [=](float s, int k) { return s + x[k]; });
}
""",
    ),
    (
        "ch08.table",
        "__constant__",
        """__constant__ float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__constant__ float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};
extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int k = kind[i]; out[i] = fmaf(scale[k], x[i], shift[k]); }
}
""",
    ),
    (
        "ch08.table",
        "float2 table",
        """__device__ const float2 coefficients[8] = {{2.0f, 1.0f}, {3.0f, -2.0f}, {0.5f, 4.0f}, {1.5f, -1.0f},
                                       {4.0f, 3.0f}, {0.25f, 0.0f}, {5.0f, -3.0f}, {6.0f, 2.0f}};
extern "C" __global__ void table(const int* __restrict__ kind, const float* __restrict__ x,
                                 float* __restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const float2 c = coefficients[kind[i]];
        out[i] = c.x * x[i] + c.y;
    }
}
""",
    ),
    (
        "ch08.table",
        "shared table",
        """extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    __shared__ float a[8], b[8];
    if (threadIdx.x == 0) {
        a[0] = 2.0f; a[1] = 3.0f; a[2] = 0.5f; a[3] = 1.5f; a[4] = 4.0f; a[5] = 0.25f; a[6] = 5.0f; a[7] = 6.0f;
        b[0] = 1.0f; b[1] = -2.0f; b[2] = 4.0f; b[3] = -1.0f; b[4] = 3.0f; b[5] = 0.0f; b[6] = -3.0f; b[7] = 2.0f;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int k = kind[i]; out[i] = a[k] * x[i] + b[k]; }
}
""",
    ),
    (
        "ch08.table",
        "shared table from device table",
        """__device__ const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};
extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    __shared__ float a[8], b[8];
    int t = threadIdx.x;
    if (t < 8) { a[t] = scale[t]; b[t] = shift[t]; }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) { int k = kind[i]; out[i] = a[k] * x[i] + b[k]; }
}
""",
    ),
    (
        "ch08.table",
        "static const inside",
        """extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    static const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
    static const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = kind[i];
    out[i] = scale[k] * x[i] + shift[k];
}
""",
    ),
    (
        "ch08.slots",
        "numpy, padded to whole warps",
        """import numpy as np
def issued(takes, then, otherwise):
    takes = np.asarray(takes)
    warps = -(-takes.size // 32)
    yes, no = np.zeros((2, 32 * warps), bool)
    yes[: takes.size], no[: takes.size] = takes, ~takes
    some = lambda each: int(each.reshape(warps, 32).any(axis=1).sum())
    return then * some(yes) + otherwise * some(no)
""",
    ),
    (
        "ch08.slots",
        "sets",
        """def issued(takes, then, otherwise):
    ways = {(thread // 32, bool(way)) for thread, way in enumerate(takes)}
    return sum(then if way else otherwise for _, way in ways)
""",
    ),
    (
        "ch08.places",
        "the lanes below by a shift, thread index by hand",
        """@cuda.jit
def places(x, place):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    lane = cuda.threadIdx.x % 32
    kept = False
    if i < place.size:
        kept = x[i] > 0
    bits = cuda.ballot_sync(0xFFFFFFFF, kept)
    if i >= place.size:
        return
    place[i] = -1
    if kept:
        place[i] = cuda.popc(bits & ~(0xFFFFFFFF << lane) & 0xFFFFFFFF)
""",
    ),
    (
        "ch08.places",
        "a vote of those within",
        """@cuda.jit
def places(x, place):
    i = cuda.grid(1)
    if i < x.size:
        mine = x[i] > 0
        bits = cuda.ballot_sync(cuda.activemask(), mine)
        place[i] = cuda.popc(bits & ((1 << cuda.laneid) - 1)) if mine else -1
""",
    ),
    (
        "ch08.bias",
        "pointers that move on",
        """extern "C" __global__
void add_bias(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ out, int rows,
              int columns) {
    const int column = threadIdx.x + blockDim.x * blockIdx.x;
    if (column < columns) {
        const float b = __ldg(bias + column);
        int left = rows - 8 * (int)blockIdx.y;
        const float* from = x + 8 * blockIdx.y * columns + column;
        float* to = out + 8 * blockIdx.y * columns + column;
        #pragma unroll
        for (int k = 0; k < 8; ++k, from += columns, to += columns)
            if (k < left) *to = *from + b;
    }
}
""",
    ),
    (
        "ch08.bias",
        "all loaded first",
        """extern "C" __global__
void add_bias(const float* x, const float* bias, float* out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, at = 8 * blockIdx.y * columns + column;
    int left = rows - 8 * blockIdx.y;
    if (column >= columns) return;
    float b = bias[column], v[8];
    #pragma unroll
    for (int k = 0; k < 8; ++k) if (k < left) v[k] = x[at + k * columns];
    #pragma unroll
    for (int k = 0; k < 8; ++k) if (k < left) out[at + k * columns] = v[k] + b;
}
""",
    ),
]
