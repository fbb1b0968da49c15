"""Grids and stencils: two and three dimensions, borders, tiles and marching."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

import numpy as np

from vgpu.tests.corpus.row import c

f4, f8, i4, u8 = np.float32, np.float64, np.int32, np.uint64


@c(
    """
    extern "C" __global__ void k(const unsigned char* in, unsigned char* out, int w, int h) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x >= w || y >= h) return;
        int alive = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (dx || dy) alive += in[((y + dy + h) % h) * w + (x + dx + w) % w];
        out[y * w + x] = alive == 3 || (alive == 2 && in[y * w + x]);
    }""",
    (3, 4), (16, 8),
)  # fmt: skip
def game_of_life(random):
    x = random.integers(0, 2, (29, 37)).astype(np.uint8)
    near = sum(np.roll(x, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) - x
    return (x, x * 0, i4(37), i4(29)), {1: (near == 3) | ((near == 2) & (x == 1))}


@c(
    """
    extern "C" __global__ void k(int* out, int w, int h, int limit) {
        int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
        if (px >= w || py >= h) return;
        double cx = -2.0 + 3.0 * px / w, cy = -1.5 + 3.0 * py / h, x = 0, y = 0;
        int n = 0;
        while (n < limit && x * x + y * y <= 4.0) { double t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; ++n; }
        out[py * w + px] = n;
    }""",
    (3, 5), (16, 8), long=True,
)  # fmt: skip
def mandelbrot(random):
    w, h, limit = 41, 35, 40
    cx, cy = np.meshgrid(-2 + 3.0 * np.arange(w) / w, -1.5 + 3.0 * np.arange(h) / h)
    z, n = np.zeros((h, w), complex), np.zeros((h, w), i4)
    for _ in range(limit):
        going = np.abs(z) <= 2
        n += going
        z = np.where(going, z * z + cx + 1j * cy, z)
    return (n * 0, i4(w), i4(h), i4(limit)), {0: n}


@c(
    """
    #define R 2
    __constant__ float weights[2 * R + 1] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
    extern "C" __global__ void k(const float* in, float* out, int n) {
        __shared__ float tile[64 + 2 * R];
        int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + R;
        tile[l] = g < n ? in[g] : 0;
        if (threadIdx.x < R) { tile[l - R] = g >= R && g - R < n ? in[g - R] : 0; tile[l + blockDim.x] = g + blockDim.x < n ? in[g + blockDim.x] : 0; }
        __syncthreads();
        float sum = 0;
        #pragma unroll
        for (int j = -R; j <= R; ++j) sum += weights[j + R] * tile[l + j];
        if (g < n) out[g] = sum;
    }""",
    4, 64, rtol=1e-5, atol=1e-6,
)  # fmt: skip
def convolution_with_constant_memory(random):
    x = random.normal(size=211).astype(f4)
    return (x, x * 0, i4(211)), {1: np.convolve(x.astype(f8), [0.1, 0.2, 0.4, 0.2, 0.1], "same")}


@c(
    """
    extern "C" __global__ void k(const float* in, float* out, int nx, int ny, int nz) {   // 2.5-D: marching in z
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        __shared__ float s[6][10];
        bool inside = x < nx && y < ny;
        int c = y * nx + x, plane = nx * ny;
        float below, here = inside ? in[c] : 0, above = inside ? in[c + plane] : 0;
        for (int z = 1; z < nz - 1; ++z) {
            below = here; here = above; above = inside ? in[c + (z + 1) * plane] : 0;
            __syncthreads();
            s[threadIdx.y + 1][threadIdx.x + 1] = here;
            if (threadIdx.x == 0 && x > 0 && inside) s[threadIdx.y + 1][0] = in[c + z * plane - 1];
            if (threadIdx.x == 7 && x + 1 < nx && inside) s[threadIdx.y + 1][9] = in[c + z * plane + 1];
            if (threadIdx.y == 0 && y > 0 && inside) s[0][threadIdx.x + 1] = in[c + z * plane - nx];
            if (threadIdx.y == 3 && y + 1 < ny && inside) s[5][threadIdx.x + 1] = in[c + z * plane + nx];
            __syncthreads();
            if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
                out[c + z * plane] = s[threadIdx.y + 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x + 2] + s[threadIdx.y][threadIdx.x + 1]
                    + s[threadIdx.y + 2][threadIdx.x + 1] + below + above - 6 * here;
        }
    }""",
    (3, 4), (8, 4), rtol=1e-5, atol=1e-5,
)  # fmt: skip
def stencil_in_three_dimensions(random):
    a = random.normal(size=(7, 13, 19)).astype(f4)
    want = a * 0
    d = a.astype(f8)
    want[1:-1, 1:-1, 1:-1] = (d[:-2, 1:-1, 1:-1] + d[2:, 1:-1, 1:-1] + d[1:-1, :-2, 1:-1] + d[1:-1, 2:, 1:-1]
                              + d[1:-1, 1:-1, :-2] + d[1:-1, 1:-1, 2:] - 6 * d[1:-1, 1:-1, 1:-1])  # fmt: skip
    return (a, a * 0, i4(19), i4(13), i4(7)), {1: want}


@c(
    """
    extern "C" __global__ void k(const uchar4* in, unsigned char* grey, int w, int h, size_t pitch) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x < w && y < h) {
            uchar4 p = *(const uchar4*)((const char*)in + y * pitch + x * sizeof(uchar4));
            grey[y * w + x] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z + 0.5f);
        }
    }""",
    (2, 2), (16, 16), atol=1,
)  # fmt: skip
def pitched_colour_to_grey(random):
    p = random.integers(0, 256, (23, 32, 4)).astype(np.uint8)
    want = (p[:, :29, :3] @ np.array([0.299, 0.587, 0.114]) + 0.5).astype(int)
    return (p, np.zeros((23, 29), np.uint8), i4(29), i4(23), u8(128)), {1: want}


@c(
    """
    template <int TILE, int ROWS> __device__ void transpose(const double* in, double* out, int w, int h) {
        __shared__ double tile[TILE][TILE + 1];
        int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
        #pragma unroll
        for (int j = 0; j < TILE; j += ROWS) if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
        __syncthreads();
        x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;
        for (int j = 0; j < TILE; j += ROWS) if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
    }
    extern "C" __global__ void k(const double* in, double* out, int w, int h) { transpose<32, 8>(in, out, w, h); }""",
    (3, 2), (32, 8),
)  # fmt: skip
def transpose_of_doubles(random):
    a = random.normal(size=(51, 77))
    return (a, np.zeros((77, 51)), i4(77), i4(51)), {1: a.T}


@c(
    """
    __global__ void unused(float* x) { x[0] = 0; }
    namespace mine { __device__ __forceinline__ float lerp(float a, float b, float t) { return fmaf(t, b - a, a); } }
    using real = float;
    static __device__ __noinline__ real sample(const real* image, int w, int h, real x, real y) {
        int x0 = (int)floorf(x), y0 = (int)floorf(y), x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
        real fx = x - x0, fy = y - y0;
        return mine::lerp(mine::lerp(image[y0 * w + x0], image[y0 * w + x1], fx), mine::lerp(image[y1 * w + x0], image[y1 * w + x1], fx), fy);
    }
    extern "C" __global__ __launch_bounds__(256, 2) void k(const real* __restrict__ in, real* __restrict__ out, int w, int h, int ow, int oh) {
        const int x = threadIdx.x + blockDim.x * blockIdx.x, y = threadIdx.y + blockDim.y * blockIdx.y;
        if (x < ow && y < oh) out[y * ow + x] = sample(in, w, h, x * (w - 1.0f) / (ow - 1), y * (h - 1.0f) / (oh - 1));
    }""",
    (3, 4), (16, 8), rtol=1e-4, atol=1e-4,
)  # fmt: skip
def bilinear_resize(random):
    a = random.normal(size=(11, 17)).astype(f4)
    x, y = np.meshgrid(np.arange(41) * f4(16) / f4(40), np.arange(27) * f4(10) / f4(26))
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    x1, y1, fx, fy = np.minimum(x0 + 1, 16), np.minimum(y0 + 1, 10), x - x0, y - y0
    want = (a[y0, x0] * (1 - fx) + a[y0, x1] * fx) * (1 - fy) + (a[y1, x0] * (1 - fx) + a[y1, x1] * fx) * fy
    return (a, np.zeros((27, 41), f4), i4(17), i4(11), i4(41), i4(27)), {1: want}
