"""The kernels of the published ladders in CUDA C, written anew after their descriptions."""

from __future__ import annotations

# ---------------------------------------------------------------- copies and transposes, tiles of 32 x 32

_TILE = """
#define TILE 32
#define ROWS 8
extern "C" __global__ void kernel(float* out, const float* in, int width) {
    %(shared)s
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    %(body)s
}
"""
_BACK = "x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;"
_FILL = "for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];"
_DRAIN = "for (int j = 0; j < TILE; j += ROWS) out[(y + j) * width + x] = tile[%s];"
_THROUGH = _FILL + "\n    __syncthreads();\n    " + _BACK + "\n    " + _DRAIN % "threadIdx.x][threadIdx.y + j"
TRANSPOSES = {
    name: _TILE % {"shared": shared, "body": body}
    for name, shared, body in (
        ("copy", "", "for (int j = 0; j < TILE; j += ROWS) out[(y + j) * width + x] = in[(y + j) * width + x];"),
        (
            "copy through shared memory",
            "__shared__ float tile[TILE][TILE];",
            _FILL + "\n    __syncthreads();\n    " + _DRAIN % "threadIdx.y + j][threadIdx.x",
        ),
        (
            "naive transpose",
            "",
            "for (int j = 0; j < TILE; j += ROWS) out[x * width + y + j] = in[(y + j) * width + x];",
        ),
        ("coalesced transpose", "__shared__ float tile[TILE][TILE];", _THROUGH),
        ("conflict-free transpose", "__shared__ float tile[TILE][TILE + 1];", _THROUGH),
    )
}

# ---------------------------------------------------------------- reductions, seven steps

_REDUCTION = """
extern "C" __global__ void kernel(const int* in, int* out, int n) {
    __shared__ volatile int sums[THREADS];
    unsigned t = threadIdx.x;
    %(load)s
    __syncthreads();
    %(tree)s
    if (t == 0) out[blockIdx.x] = sums[0];
}
"""
_ONE = "unsigned i = blockIdx.x * THREADS + t; sums[t] = i < n ? in[i] : 0;"
_TWO = """unsigned i = blockIdx.x * 2 * THREADS + t;
    int sum = i < n ? in[i] : 0;
    if (i + THREADS < n) sum += in[i + THREADS];
    sums[t] = sum;"""
_MANY = """int sum = 0;
    for (unsigned i = blockIdx.x * 2 * THREADS + t; i < n; i += 2 * THREADS * gridDim.x) {
        sum += in[i];
        if (i + THREADS < n) sum += in[i + THREADS];
    }
    sums[t] = sum;"""
_MODULO = """for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (t %% (2 * s) == 0) sums[t] += sums[t + s];
        __syncthreads();
    }"""
_STRIDED = """for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned at = 2 * s * t;
        if (at < blockDim.x) sums[at] += sums[at + s];
        __syncthreads();
    }"""
_SEQUENTIAL = """for (unsigned s = blockDim.x / 2; s > %d; s >>= 1) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }"""
_WARP = "if (t < 32) { " + " ".join(f"sums[t] += sums[t + {s}];" for s in (32, 16, 8, 4, 2, 1)) + " }"
_UNROLLED = (
    """if (THREADS >= 512) { if (t < 256) sums[t] += sums[t + 256]; __syncthreads(); }
    if (THREADS >= 256) { if (t < 128) sums[t] += sums[t + 128]; __syncthreads(); }
    if (THREADS >= 128) { if (t < 64) sums[t] += sums[t + 64]; __syncthreads(); }
    """
    + _WARP
)
# name -> (source, input elements a thread takes; 0 for as many as it comes to)
REDUCTIONS = {
    name: (_REDUCTION % {"load": load, "tree": tree.replace("%%", "%")}, each)
    for name, load, tree, each in (
        ("interleaved, divergent", _ONE, _MODULO, 1),
        ("interleaved, bank conflicts", _ONE, _STRIDED, 1),
        ("sequential", _ONE, _SEQUENTIAL % 0, 1),
        ("first add while loading", _TWO, _SEQUENTIAL % 0, 2),
        ("last warp unrolled", _TWO, _SEQUENTIAL % 32 + "\n    " + _WARP, 2),
        ("all unrolled", _TWO, _UNROLLED, 2),
        ("many elements a thread", _MANY, _UNROLLED, 0),
    )
}

# ---------------------------------------------------------------- z = x * y, some elements a thread

_ELEMENTWISE = """#include <cuda_fp16.h>
struct __align__(sizeof(%(type)s) * %(each)d) Pack { %(type)s of[%(each)d]; };
extern "C" __global__ void kernel(const Pack* x, const Pack* y, Pack* z, int packs) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < packs; i += gridDim.x * blockDim.x) {
        Pack a = x[i], b = y[i];
        for (int j = 0; j < %(each)d; ++j) a.of[j] *= b.of[j];
        z[i] = a;
    }
}
"""
# name -> (source, elements a pack has, bytes of an element)
ELEMENTWISE = {
    name: (_ELEMENTWISE % {"type": kind, "each": each}, each, itemsize)
    for name, kind, each, itemsize in (
        ("float", "float", 1, 4), ("4 floats", "float", 4, 4), ("half", "__half", 1, 2), ("8 halves", "__half", 8, 2),
    )
}  # fmt: skip

# ---------------------------------------------------------------- C = alpha A B + beta C, row after row

_HEAD = """
extern "C" __global__ void kernel(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                                  float* C) {
"""
_PLAIN = (
    _HEAD
    + """    int row = %(row)s, col = %(col)s;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = alpha * sum + beta * C[row * N + col];
    }
}
"""
)
_SHARED = (
    _HEAD
    + """    __shared__ float a[32][32], b[32][32];
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        a[ty][tx] = A[row * K + k0 + tx];
        b[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
"""
)
_COLUMN = (
    _HEAD
    + """    // A block makes 64 x 64 of C, a thread 8 of one column.
    __shared__ float a[64 * 8], b[8 * 64];
    int tx = threadIdx.x % 64, ty = threadIdx.x / 64;
    A += blockIdx.y * 64 * K; B += blockIdx.x * 64; C += blockIdx.y * 64 * N + blockIdx.x * 64;
    float sums[8] = {0};
    for (int k0 = 0; k0 < K; k0 += 8) {
        a[threadIdx.x] = A[threadIdx.x / 8 * K + threadIdx.x % 8];
        b[threadIdx.x] = B[threadIdx.x / 64 * N + threadIdx.x % 64];
        __syncthreads();
        A += 8; B += 8 * N;
        for (int k = 0; k < 8; ++k) {
            float right = b[k * 64 + tx];
            for (int i = 0; i < 8; ++i) sums[i] += a[(ty * 8 + i) * 8 + k] * right;
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        int at = (ty * 8 + i) * N + tx;
        C[at] = alpha * sums[i] + beta * C[at];
    }
}
"""
)
_SQUARE = (
    _HEAD
    + """    // A block makes 128 x 128 of C, a thread 8 x 8.
    __shared__ float a[128 * 8], b[8 * 128];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    A += blockIdx.y * 128 * K; B += blockIdx.x * 128; C += blockIdx.y * 128 * N + blockIdx.x * 128;
    float sums[64] = {0}, left[8], right[8];
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int r = 0; r < 128; r += 32)
            a[(threadIdx.x / 8 + r) * 8 + threadIdx.x % 8] = A[(threadIdx.x / 8 + r) * K + threadIdx.x % 8];
        for (int r = 0; r < 8; r += 2)
            b[(threadIdx.x / 128 + r) * 128 + threadIdx.x % 128] = B[(threadIdx.x / 128 + r) * N + threadIdx.x % 128];
        __syncthreads();
        A += 8; B += 8 * N;
        for (int k = 0; k < 8; ++k) {
            for (int i = 0; i < 8; ++i) left[i] = a[(ty * 8 + i) * 8 + k];
            for (int j = 0; j < 8; ++j) right[j] = b[k * 128 + tx * 8 + j];
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sums[i * 8 + j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            int at = (ty * 8 + i) * N + tx * 8 + j;
            C[at] = alpha * sums[i * 8 + j] + beta * C[at];
        }
}
"""
)
_QUADS = (
    _HEAD
    + """    // As before, but A's tile lies transposed and everything moves in 16 bytes; DEPTH columns at a time.
    __shared__ float a[DEPTH * 128], b[DEPTH * 128];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    A += blockIdx.y * 128 * K; B += blockIdx.x * 128; C += blockIdx.y * 128 * N + blockIdx.x * 128;
    const int across = DEPTH / 4, down = 256 / across;
    float sums[64] = {0}, left[8], right[8];
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int r = 0; r < 128; r += down) {
            int row = threadIdx.x / across + r, col = threadIdx.x % across * 4;
            float4 four = *(const float4*)&A[row * K + col];
            a[col * 128 + row] = four.x; a[(col + 1) * 128 + row] = four.y;
            a[(col + 2) * 128 + row] = four.z; a[(col + 3) * 128 + row] = four.w;
        }
        for (int r = 0; r < DEPTH; r += 8) {
            int row = threadIdx.x / 32 + r, col = threadIdx.x % 32 * 4;
            *(float4*)&b[row * 128 + col] = *(const float4*)&B[row * N + col];
        }
        __syncthreads();
        A += DEPTH; B += DEPTH * N;
        for (int k = 0; k < DEPTH; ++k) {
            for (int i = 0; i < 8; i += 4) *(float4*)&left[i] = *(float4*)&a[k * 128 + ty * 8 + i];
            for (int j = 0; j < 8; j += 4) *(float4*)&right[j] = *(float4*)&b[k * 128 + tx * 8 + j];
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sums[i * 8 + j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; j += 4) {
            float4* at = (float4*)&C[(ty * 8 + i) * N + tx * 8 + j];
            float4 old = *at;
            old.x = alpha * sums[i * 8 + j] + beta * old.x;
            old.y = alpha * sums[i * 8 + j + 1] + beta * old.y;
            old.z = alpha * sums[i * 8 + j + 2] + beta * old.z;
            old.w = alpha * sums[i * 8 + j + 3] + beta * old.w;
            *at = old;
        }
}
"""
)
_WARPS = (
    _HEAD
    + """    // Four warps of 64 x 64 each; a warp goes over its part in four steps of 16 columns, 8 x 4 a thread.
    __shared__ float a[16 * 128], b[16 * 128];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int top = warp / 2 * 64 + lane / 4 * 8, start = warp % 2 * 64 + lane % 4 * 4;
    A += blockIdx.y * 128 * K; B += blockIdx.x * 128; C += blockIdx.y * 128 * N + blockIdx.x * 128;
    float sums[128] = {0}, left[8], right[16];
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int r = 0; r < 128; r += 32) {
            int row = threadIdx.x / 4 + r, col = threadIdx.x % 4 * 4;
            float4 four = *(const float4*)&A[row * K + col];
            a[col * 128 + row] = four.x; a[(col + 1) * 128 + row] = four.y;
            a[(col + 2) * 128 + row] = four.z; a[(col + 3) * 128 + row] = four.w;
        }
        for (int r = 0; r < 16; r += 4) {
            int row = threadIdx.x / 32 + r, col = threadIdx.x % 32 * 4;
            *(float4*)&b[row * 128 + col] = *(const float4*)&B[row * N + col];
        }
        __syncthreads();
        A += 16; B += 16 * N;
        for (int k = 0; k < 16; ++k) {
            for (int i = 0; i < 8; i += 4) *(float4*)&left[i] = *(float4*)&a[k * 128 + top + i];
            for (int w = 0; w < 4; ++w) *(float4*)&right[w * 4] = *(float4*)&b[k * 128 + start + w * 16];
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 16; ++j) sums[i * 16 + j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int w = 0; w < 4; ++w) {
            float4* at = (float4*)&C[(top + i) * N + start + w * 16];
            float4 old = *at;
            old.x = alpha * sums[i * 16 + w * 4] + beta * old.x;
            old.y = alpha * sums[i * 16 + w * 4 + 1] + beta * old.y;
            old.z = alpha * sums[i * 16 + w * 4 + 2] + beta * old.z;
            old.w = alpha * sums[i * 16 + w * 4 + 3] + beta * old.w;
            *at = old;
        }
}
"""
)
# name -> (source, elements of C a block makes along a side, threads of a block)
MATMULS: dict[str, tuple[str, int, int | tuple[int, int]]] = {
    "naive": (
        _PLAIN % {"row": "blockIdx.x * 32 + threadIdx.x", "col": "blockIdx.y * 32 + threadIdx.y"},
        *(32, (32, 32)),
    ),
    "coalesced": (
        _PLAIN % {"row": "blockIdx.y * 32 + threadIdx.x / 32", "col": "blockIdx.x * 32 + threadIdx.x % 32"},
        *(32, 1024),
    ),
    "shared tiles": (_SHARED, 32, 1024),
    "8 results a thread": (_COLUMN, 64, 512),
    "8 x 8 results a thread": (_SQUARE, 128, 256),
    "16-byte accesses": ("#define DEPTH 8\n" + _QUADS, 128, 256),
    "deeper tiles": ("#define DEPTH 16\n" + _QUADS, 128, 256),
    "warp tiles": (_WARPS, 128, 128),
}
