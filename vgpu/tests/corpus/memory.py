"""Memory spaces: how kernels lay out, address and share what they read and write."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

from __future__ import annotations

import numpy as np

from vgpu.tests.corpus.row import c

f4, i4, i8 = np.float32, np.int32, np.int64


@c(
    """
    extern "C" __global__ void k(int n, float a, const float* x, float* y) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y[i];
    }""",
    5, 64, rtol=1e-5, atol=1e-6, check=True,
)  # fmt: skip
def saxpy(random):
    x, y = random.normal(size=(2, 300)).astype(f4)
    return (i4(300), f4(2.5), x, y), {3: f4(2.5) * x + y}


@c(
    """
    extern "C" __global__ void k(const double* in, double* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        for (int stride = 1; stride <= 32; stride = stride * 3 + 1, out += n)
            if (i * stride < n) out[i * stride] = in[i * stride];
    }""",
    2, 32,
)  # fmt: skip
def one_access_at_changing_strides(random):
    """The pattern that a site remembers comes at no second time."""
    data, out = random.normal(size=1000), np.zeros((3, 1000))
    for row, stride in zip(out, (1, 4, 13), strict=True):
        row[: 64 * stride : stride] = data[: 64 * stride : stride]
    return (data, np.zeros(3000), i4(1000)), {1: out.ravel()}


@c(
    """
    struct Particle { float x, y; int kind; double mass; };
    extern "C" __global__ void k(const Particle* in, float* x, float* y, int* kind, double* mass) {
        int i = threadIdx.x;
        Particle p = in[i];
        x[i] = p.x; y[i] = p.y; kind[i] = p.kind; mass[i] = p.mass;
    }""",
    1, 50,
)  # fmt: skip
def arrays_of_structures_and_structures_of_arrays(random):
    particles = np.zeros(50, np.dtype([("x", "f4"), ("y", "f4"), ("kind", "i4"), ("mass", "f8")], align=True))
    for name in particles.dtype.names:
        particles[name] = random.normal(size=50) * 100
    columns = [particles[name].copy() for name in particles.dtype.names]
    return (particles, *(column * 0 for column in columns)), dict(enumerate(columns, 1))


@c(
    """
    extern "C" __global__ void k(const float4* f4, const float2* f2, const uchar4* b4, const short2* s2, const double2* d2, const int4* i4,
                                 float4* out, double2* wide, int4* ints) {
        int i = threadIdx.x;
        float4 a = f4[i]; float2 b = f2[i]; uchar4 c = b4[i]; short2 d = s2[i];
        out[i] = make_float4(a.x + b.x, a.y + b.y, a.z + c.x + d.x, a.w + c.w + d.y);
        double2 e = d2[i]; wide[i] = make_double2(e.y, e.x);
        int4 g = i4[i]; ints[i] = make_int4(g.w, g.z, g.y, g.x);
    }""",
    1, 37, rtol=1e-5, atol=1e-4, check=True,
)  # fmt: skip
def vector_loads_of_every_width(random):
    four, two, d2 = (
        random.normal(size=(37, 4)).astype(f4),
        random.normal(size=(37, 2)).astype(f4),
        random.normal(size=(37, 2)),
    )
    b4, s2 = random.integers(0, 256, (37, 4), dtype=np.uint8), random.integers(-999, 999, (37, 2), dtype=np.int16)
    ints = random.integers(-(2**31), 2**31, (37, 4), dtype=i4)
    out = four + np.stack([two[:, 0], two[:, 1], b4[:, 0] + s2[:, 0], b4[:, 3] + s2[:, 1]], 1).astype(f4)
    return (four, two, b4, s2, d2, ints, out * 0, d2 * 0, ints * 0), {6: out, 7: d2[:, ::-1], 8: ints[:, ::-1]}


@c(
    """
    extern __shared__ int scratch[];
    extern "C" __global__ void k(int* data) {
        __shared__ int other[3];
        if (threadIdx.x < 3) other[threadIdx.x] = 1000 * threadIdx.x;
        scratch[threadIdx.x] = data[threadIdx.x];
        __syncthreads();
        data[threadIdx.x] = scratch[blockDim.x - 1 - threadIdx.x] + other[threadIdx.x % 3];
    }""",
    1, 96, shared=96 * 4, check=True,
)  # fmt: skip
def dynamic_shared_memory_behind_fixed(random):
    return (np.arange(96, dtype=i4),), {0: np.arange(96)[::-1] + 1000 * (np.arange(96) % 3)}


@c(
    """
    template <class T> struct Shared { static __device__ T* get() { extern __shared__ __align__(8) char raw[]; return (T*)raw; } };
    template <class T> __device__ void work(const T* in, T* out) {
        T* tile = Shared<T>::get();
        tile[threadIdx.x] = in[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = tile[(threadIdx.x + 1) % blockDim.x] + T(2) * tile[threadIdx.x];
        __syncthreads();
    }
    extern "C" __global__ void k(const float* f, float* fo, const double* d, double* doo, const unsigned char* b, unsigned char* bo) {
        work(f, fo); work(d, doo); work(b, bo);
    }""",
    1, 96, shared=96 * 8,
)  # fmt: skip
def dynamic_shared_memory_by_type(random):
    every = [random.integers(1, 51, 96).astype(dtype) for dtype in (f4, np.float64, np.uint8)]
    wanted = [np.roll(data, -1) + 2 * data for data in every]
    return tuple(x for data in every for x in (data, data * 0)), dict(zip((1, 3, 5), wanted, strict=True))


@c(
    """
    __constant__ float weights[5] = {1, 2, 4, 8, 16};
    __constant__ int offset = 3;
    __device__ const float* pointer = weights + 2;
    __device__ int tally;
    extern "C" __global__ void k(const int* choice, float* out, int* count) {
        int i = threadIdx.x;
        out[i] = weights[choice[i]] + offset + pointer[0];
        atomicAdd(&tally, 1);
        __syncthreads();
        if (i == 0) { *count = tally; tally = 0; }
    }""",
    1, 70, check=True,
)  # fmt: skip
def constant_and_global_variables(random):
    choice = random.integers(0, 5, 70, dtype=i4)
    return (choice, np.zeros(70, f4), np.zeros(1, i4)), {1: 2.0**choice + 3 + 4, 2: [70]}


@c(
    """
    extern "C" __global__ void k(int* data) {
        int values[7];
        for (int k = 0; k < 7; ++k) values[k] = data[threadIdx.x * 7 + k];
        for (int i = 1; i < 7; ++i) {
            int v = values[i], j = i;
            while (j > 0 && values[j - 1] > v) { values[j] = values[j - 1]; --j; }
            values[j] = v;
        }
        for (int k = 0; k < 7; ++k) data[threadIdx.x * 7 + k] = values[(k + threadIdx.x) % 7];
    }""",
    1, 40, check=True,
)  # fmt: skip
def local_arrays_with_computed_indices(random):
    data = random.integers(-50, 50, (40, 7), dtype=i4)
    return (data,), {0: np.array([np.roll(np.sort(row), -i % 7) for i, row in enumerate(data)])}


@c(
    """
    __device__ __noinline__ int sum(const int* p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }
    __device__ __noinline__ void fill(int* p, int n, int v) { for (int i = 0; i < n; ++i) p[i] = v + i; }
    __constant__ int fixed[4] = {1, 10, 100, 1000};
    extern "C" __global__ void k(int* global, int* out) {
        __shared__ int shared[4];
        int local[4];
        fill(local, 4, threadIdx.x);
        if (threadIdx.x == 0) fill(shared, 4, 7);
        __syncthreads();
        const int* pick = threadIdx.x % 4 == 0 ? local : threadIdx.x % 4 == 1 ? shared : threadIdx.x % 4 == 2 ? global : fixed;
        out[threadIdx.x] = sum(pick, 4);
    }""",
    1, 64, check=True, apart=("global_load", "shared_load", "local_load"),
)  # fmt: skip
def generic_pointers_find_their_space(random):
    i = np.arange(64)
    return (np.array([5, 6, 7, 8], i4), np.zeros(64, i4)), {1: np.choose(i % 4, [4 * i + 6, 34, 26, 1111])}


@c(
    """
    __device__ int anywhere; __constant__ int fixed;
    extern "C" __global__ void k(int* out) {
        __shared__ int tile[32];
        int own[2] = {out[0], 3};
        void* all[4] = {out, tile, &own[out[1]], (void*)&anywhere};
        const void* p = all[threadIdx.x & 3];
        tile[threadIdx.x] = fixed;
        __syncwarp();
        out[threadIdx.x] = __isGlobal(p) + 2 * __isShared(p) + 4 * __isLocal(p) + 8 * __isConstant(p);
    }""",
    1, 32,
)  # fmt: skip
def pointers_say_which_memory_they_point_to(random):
    return (np.zeros(32, i4),), {0: np.tile([1, 2, 4, 1], 8)}


@c(
    """
    struct Line { float slope; double start; int power[3]; };
    __device__ __noinline__ Line steeper(Line line, int by) { line.slope *= by; line.power[by % 3] += 5; return line; }
    extern "C" __global__ void k(Line line, float* out) {
        Line mine = steeper(line, threadIdx.x % 4);
        out[threadIdx.x] = mine.slope * threadIdx.x + mine.start + line.power[threadIdx.x % 3] + mine.power[(threadIdx.x + 1) % 3];
    }""",
    1, 60, apart=("local",),
)  # fmt: skip
def structures_are_passed_by_value(random):
    line = np.zeros((), np.dtype([("slope", "f4"), ("start", "f8"), ("power", "i4", 3)], align=True))
    line["slope"], line["start"], line["power"] = 0.5, 3.0, [1, 10, 100]
    i, powers = np.arange(60), np.array([[1, 10, 100]] * 60)
    powers[i, i % 4 % 3] += 5
    wanted = 0.5 * (i % 4) * i + 3 + 10.0 ** (i % 3) + powers[i, (i + 1) % 3]
    return (line.tobytes(), np.zeros(60, f4)), {1: wanted}


def _far(far: int) -> None:
    @c(
        """
        extern "C" __global__ void k(int far, const int* in, int* out) {
            __shared__ int s[64];
            int t = threadIdx.x;
            unsigned base = (unsigned)__cvta_generic_to_shared(s);
            s[t] = in[t]; s[t + 32] = 7 * in[t];
            __syncthreads();
            for (int step = 0; step < 3; ++step) {
                unsigned at = t ? base + 4 * ((5 * t + step) & 63) : far + 4 * step; int v = 0;
                if (t & 1) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
                out[32 * step + t] = v;
                if (t & 1) asm volatile("st.shared.u32 [%0], %1;" :: "r"(at), "r"(v + step + 1) : "memory");
                __syncthreads();
            }
            out[96 + t] = s[t]; out[128 + t] = s[t + 32];
        }""",
        1, 32, name=f"an_idle_lane_may_hold_any_shared_address_{far}",
    )  # fmt: skip
    def make(random):
        """Lane 0 takes no part, and what it holds as its address is far from shared memory, where distances wrap."""
        x = random.integers(0, 1000, 32).astype(i4)
        rows, s, t = np.zeros((3, 32), i4), np.concatenate([x, 7 * x]), np.arange(1, 32, 2)
        for step in range(3):
            at = (5 * t + step) & 63
            rows[step, t] = s[at]
            s[at] += step + 1
        return (i4(far), x, np.zeros(160, i4)), {2: np.concatenate([rows.ravel(), s])}


for far in (-4, -8, 0x7FFFFFF0, 0x7FFFFFFC, 0x7FFFFFE0 - 2**32 + 64, -(2**31), -(2**31) + 8, 2**31 - 60):
    _far(far)


@c(
    """
    struct __align__(16) Params { float scale[4]; int offset; double bias; bool flip; char tag[3]; };
    __constant__ Params fixed = {{1, 2, 3, 4}, 5, 0.25, true, {'a', 'b', 'c'}};
    extern "C" __global__ void k(Params p, const float* in, double* out) {
        int i = threadIdx.x;
        const Params& q = i & 1 ? p : fixed;
        double v = in[i] * q.scale[i & 3] + q.offset + q.bias;
        out[i] = q.flip ? -v + q.tag[i % 3] : v;
    }""",
    1, 37, rtol=1e-6, apart=("global_load", "local_load"),
)  # fmt: skip
def structures_by_value_and_in_constant_memory(random):
    layout = np.dtype({"names": ["scale", "offset", "bias", "flip", "tag"], "formats": ["4f4", "i4", "f8", "?", "3i1"],
                       "offsets": [0, 16, 24, 32, 33], "itemsize": 48})  # fmt: skip
    p = np.zeros((), layout)
    p["scale"], p["offset"], p["bias"], p["flip"], p["tag"] = [5, 6, 7, 8], -3, 1.5, False, [1, 2, 3]
    x = random.normal(size=37).astype(f4)
    i = np.arange(37)
    odd = x * np.array([5, 6, 7, 8.0])[i & 3] - 3 + 1.5
    even = -(x * np.array([1, 2, 3, 4.0])[i & 3] + 5.25) + np.array([97, 98, 99])[i % 3]
    return (p[()], x, np.zeros(37)), {2: np.where(i & 1, odd, even)}


@c(
    """
    extern "C" __global__ void k(const int4* in, int4* out, const short2* s, longlong2* wide, double2* d, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int4 v = in[i]; out[i] = make_int4(v.w, v.z, v.y, v.x);
        wide[i] = make_longlong2((long long)s[i].x << 40, s[i].y); d[i] = make_double2(v.x * 0.5, (double)v.y / 3);
        reinterpret_cast<int*>(out)[4 * i + 1] += 7;
    }""",
    2, 33,
)  # fmt: skip
def vectors_of_integers(random):
    x, s = random.integers(-(2**30), 2**30, (61, 4)).astype(i4), random.integers(-99, 99, (61, 2)).astype(np.int16)
    want = x[:, ::-1].copy()
    want[:, 1] += 7
    return (x, x * 0, s, np.zeros((61, 2), i8), np.zeros((61, 2)), i4(61)), {
        1: want, 3: s.astype(i8) << np.array([40, 0]), 4: np.stack([x[:, 0] * 0.5, x[:, 1] / 3], 1)}  # fmt: skip
