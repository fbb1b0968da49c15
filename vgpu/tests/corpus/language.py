"""The language: templates, operators, unions, closures, objects, and PTX in the middle of it."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

import math

import numpy as np

from vgpu.tests.corpus.row import c

f4, i4, u4, i8 = np.float32, np.int32, np.uint32, np.int64


@c(
    """
    template <typename T, int N> struct Vec {
        T v[N];
        __device__ Vec operator+(const Vec& o) const { Vec r; for (int i = 0; i < N; ++i) r.v[i] = v[i] + o.v[i]; return r; }
        __device__ Vec operator*(T s) const { Vec r; for (int i = 0; i < N; ++i) r.v[i] = v[i] * s; return r; }
        __device__ T& operator[](int i) { return v[i]; }
    };
    extern "C" __global__ void k(const Vec<float, 3>* a, const Vec<float, 3>* b, Vec<float, 3>* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        Vec<float, 3> r = a[i] * 2.0f + b[i];
        r[i % 3] += 100.0f;
        out[i] = r;
    }""",
    3, 64, rtol=1e-6, atol=1e-6,
)  # fmt: skip
def template_struct_with_operators(random):
    a, b = random.normal(size=(2, 150, 3)).astype(f4)
    want = a * f4(2) + b
    want[np.arange(150), np.arange(150) % 3] += f4(100)
    return (a, b, np.zeros_like(a), i4(150)), {2: want}


@c(
    """
    enum class Op : unsigned char { add, sub, mul, shl, neg };
    __device__ int apply(Op op, int a, int b) {
        switch (op) {
            case Op::add: return a + b;
            case Op::sub: return a - b;
            case Op::mul: return a * b;
            case Op::shl: return a << (b & 7);
            default: return -a;
        }
    }
    extern "C" __global__ void k(const Op* ops, const int* a, const int* b, int* out, int n) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            out[i] = apply(ops[i], a[i], b[i]);
    }""",
    2, 33,
)  # fmt: skip
def enum_class_and_switch(random):
    op, a, b = random.integers(0, 6, 301).astype(np.uint8), *random.integers(-999, 999, (2, 301)).astype(i4)
    want = np.select([op == 0, op == 1, op == 2, op == 3], [a + b, a - b, a * b, a << (b & 7)], -a)
    return (op, a, b, np.zeros(301, i4), i4(301)), {3: want}


@c(
    """
    union Bits { float f; unsigned u; struct { unsigned mantissa : 23, exponent : 8, sign : 1; }; };
    extern "C" __global__ void k(const float* in, unsigned* sign, int* exponent, unsigned* mantissa, float* back) {
        int i = threadIdx.x;
        Bits b; b.f = in[i];
        sign[i] = b.sign; exponent[i] = (int)b.exponent - 127; mantissa[i] = b.mantissa;
        b.exponent = 127; b.sign ^= 1;
        back[i] = b.f;
    }""",
    1, 77,
)  # fmt: skip
def union_with_bit_fields(random):
    x = (random.normal(size=77) * 10.0 ** random.integers(-20, 20, 77)).astype(f4)
    bits = x.view(u4)
    back = ((bits & 0x7FFFFF) | (127 << 23) | ((bits >> 31 ^ 1) << 31)).astype(u4).view(f4)
    z = np.zeros(77, u4)
    return (x, z, z.astype(i4), z.copy(), x * 0), {
        1: bits >> 31, 2: (bits >> 23 & 255).astype(i4) - 127, 3: bits & 0x7FFFFF, 4: back}  # fmt: skip


@c(
    """
    #define MAX(a, b) ((a) > (b) ? (a) : (b))
    #define SQUARE(x) ((x) * (x))
    #define UNROLL(n) for (int _u = 0; _u < (n); ++_u)
    class Accumulator {
        float total = 0; float largest = -1e30f; int count = 0;
    public:
        __device__ void add(float x) { total += SQUARE(x); largest = MAX(largest, x); ++count; }
        __device__ float mean() const { return count ? total / count : 0.0f; }
        __device__ float top() const { return largest; }
    };
    extern "C" __global__ void k(const float* __restrict__ in, float2* __restrict__ out, int n, int each) {
        int t = threadIdx.x + blockIdx.x * blockDim.x;
        Accumulator acc;
        auto visit = [&](int i) { if (i < n) acc.add(in[i]); };
        UNROLL(each) visit(t * each + _u);
        out[t] = make_float2(acc.mean(), acc.top());
    }""",
    2, 20, rtol=1e-5,
)  # fmt: skip
def class_macros_and_lambda(random):
    x = random.normal(size=199).astype(f4)
    padded = np.full(40 * 7, np.nan, f4)
    padded[:199] = x
    rows = padded.reshape(40, 7)
    has = ~np.isnan(rows)
    count = has.sum(1)
    mean = np.where(count > 0, np.where(has, rows**2, 0).sum(1) / np.maximum(count, 1), 0)
    top = np.where(has, rows, -1e30).max(1)
    return (x, np.zeros((40, 2), f4), i4(199), i4(7)), {1: np.stack([mean, top], 1)}


@c(
    """
    struct Add { template <class T> __device__ T operator()(T a, T b) const { return a + b; } static constexpr int id = 0; };
    struct Mul { template <class T> __device__ T operator()(T a, T b) const { return a * b; } static constexpr int id = 1; };
    template <class F, class T> __device__ T fold(const T* p, int n) { F f; T r = F::id; for (int i = 0; i < n; ++i) r = f(r, p[i]); return r; }
    template <int N> __device__ constexpr int factorial() { if constexpr (N < 2) return 1; else return N * factorial<N - 1>(); }
    extern "C" __global__ void k(const long long* in, long long* out, int width) {
        int i = threadIdx.x;
        out[3 * i] = fold<Add>(in + i * width, width);
        out[3 * i + 1] = fold<Mul>(in + i * width, width);
        out[3 * i + 2] = factorial<10>();
    }""",
    1, 19,
)  # fmt: skip
def functors_and_constexpr(random):
    x = random.integers(-9, 9, (19, 11))
    return (x, np.zeros((19, 3), i8), i4(11)), {
        1: np.stack([x.sum(1), x.prod(1), np.full(19, math.factorial(10))], 1)}  # fmt: skip


@c(
    """
    struct Particle {
        float x, v;
        __device__ Particle(float x, float v) : x(x), v(v) {}
        __device__ void step(float dt) { x += v * dt; }
    };
    extern "C" __global__ void k(float* out) {
        __shared__ __align__(alignof(Particle)) unsigned char room[64 * sizeof(Particle)];
        Particle* mine = new (room + threadIdx.x * sizeof(Particle)) Particle(threadIdx.x, 2);
        for (int i = 0; i < 4; i++) mine->step(0.5f);
        __syncthreads();
        out[threadIdx.x] = ((Particle*)room)[63 - threadIdx.x].x;
        mine->~Particle();
    }""",
    1, 64,
)  # fmt: skip
def objects_placed_in_shared_memory(random):
    return (np.zeros(64, f4),), {0: (np.arange(64) + 4)[::-1]}


@c(
    """
    extern "C" __global__ void k(unsigned* out) {
        unsigned lane, warp, wide, carry = threadIdx.x * 0x9e3779b9u;
        asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
        asm("{ .reg .pred p; setp.gt.u32 p, %1, 15; selp.u32 %0, 1, 0, p; }" : "=r"(warp) : "r"(lane));
        asm("{ .reg .u64 t; mul.wide.u32 t, %1, %2; shr.u64 t, t, 32; cvt.u32.u64 %0, t; }" : "=r"(wide) : "r"(carry), "r"(0x10001u));
        asm("bfind.u32 %0, %1;" : "=r"(carry) : "r"(carry | 1));
        ((uint4*)out)[threadIdx.x] = make_uint4(lane, warp, wide, carry);
    }""",
    1, 64,
)  # fmt: skip
def inline_ptx(random):
    lane = np.arange(64) % 32
    x = (np.arange(64, dtype=np.uint64) * 0x9E3779B9) & 0xFFFFFFFF
    bits = [(int(v) | 1).bit_length() - 1 for v in x]
    return (np.zeros((64, 4), u4),), {0: np.stack([lane, lane > 15, (x * 0x10001) >> np.uint64(32), bits], axis=1)}
