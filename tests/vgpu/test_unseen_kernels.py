"""Kernels as people write them, from many corners of CUDA C++, against NumPy at awkward sizes.

Each case is a source, a launch and a function that makes the arguments and what some of them must be afterwards.
"""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from helpers.vgpu.base.errors import Unsupported, VirtualGPUError
from helpers.vgpu.standins import cupy as cp

f4, f8, i4, u4, i8, u8 = np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64


@dataclass(frozen=True)
class Case:
    """One kernel: `make(random)` gives the arguments and {index of an argument: what it must hold}."""

    name: str
    source: str
    grid: tuple
    block: tuple
    make: Callable
    shared: int = 0
    rtol: float = 0.0
    atol: float = 0.0


CASES: list[Case] = []


def case(source, grid, block, **options):
    """Enter the decorated function's case into the table under its name; the kernel is called `k`."""

    def enter(make):
        grids, blocks = ((size,) if isinstance(size, int) else size for size in (grid, block))
        CASES.append(Case(make.__name__, source, grids, blocks, make, **options))
        return make

    return enter


def check(case: Case):
    args, expected = case.make(np.random.default_rng(7))
    there = [cp.asarray(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    kernel = cp.RawModule(code=case.source, options=("-std=c++17",)).get_function("k")
    kernel(case.grid, case.block, tuple(there), shared_mem=case.shared)
    for index, wanted in expected.items():
        np.testing.assert_allclose(cp.asnumpy(there[index]), wanted, rtol=case.rtol, atol=case.atol, err_msg=case.name)


# ---------------------------------------------------------------- the language


@case(
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


@case(
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


@case(
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
    return (x, z, z.astype(i4), z, x * 0), {
        1: bits >> 31, 2: (bits >> 23 & 255).astype(i4) - 127, 3: bits & 0x7FFFFF, 4: back}  # fmt: skip


@case(
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


@case(
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


# ---------------------------------------------------------------- numbers


def divisions(type_name, dtype):
    @case(
        f"""
        extern "C" __global__ void k(const {type_name}* a, const {type_name}* b, {type_name}* q, {type_name}* r, int n) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) {{ q[i] = a[i] / b[i]; r[i] = a[i] % b[i]; }}
        }}""",
        5, 96,
    )  # fmt: skip
    def make(random):
        limits = np.iinfo(dtype)
        a = random.integers(limits.min, limits.max, 451, dtype=dtype, endpoint=True)
        b = random.integers(limits.min, limits.max, 451, dtype=dtype, endpoint=True) >> random.integers(
            0, limits.bits, 451
        ).astype(dtype)
        a[:4] = limits.min, limits.max, 0, limits.max
        b[:4] = 1, 1, limits.max, limits.max
        b[(b == 0) | (b == dtype(-1) if limits.min else b == 0)] = 3
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        quotient = np.array([abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs], dtype)
        return (a, b, a * 0, a * 0, i4(451)), {2: quotient, 3: a - quotient * b}

    CASES[-1] = Case(f"division_of_{dtype.__name__}", *list(CASES[-1].__dict__.values())[1:])


for type_name, dtype in [
    ("signed char", np.int8), ("unsigned char", np.uint8), ("short", np.int16), ("unsigned short", np.uint16),
    ("int", i4), ("unsigned", u4), ("long long", i8), ("unsigned long long", u8),
]:  # fmt: skip
    divisions(type_name, dtype)


@case(
    """
    __device__ unsigned long long mix(unsigned long long x) {
        x ^= x >> 33; x *= 0xff51afd7ed558ccdULL; x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ULL; return x ^ (x >> 33);
    }
    __device__ unsigned fnv(const unsigned char* p, int n) {
        unsigned h = 2166136261u;
        for (int i = 0; i < n; ++i) { h ^= p[i]; h *= 16777619u; }
        return h;
    }
    extern "C" __global__ void k(const unsigned long long* in, unsigned long long* out, unsigned* small, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        out[i] = mix(in[i]);
        small[i] = fnv((const unsigned char*)(in + i), 8);
    }""",
    3, 50,
)  # fmt: skip
def hashes(random):
    x = random.integers(0, 2**64 - 1, 131, dtype=u8)
    h = x ^ x >> u8(33)
    h = h * u8(0xFF51AFD7ED558CCD)
    h ^= h >> u8(33)
    h = h * u8(0xC4CEB9FE1A85EC53)
    h ^= h >> u8(33)
    fnv = np.full(131, 2166136261, u4)
    for byte in x.view(np.uint8).reshape(131, 8).T:
        fnv = (fnv ^ byte) * u4(16777619)
    return (x, x * 0, fnv * 0, i4(131)), {1: h, 2: fnv}


@case(
    """
    extern "C" __global__ void k(const unsigned* a, const unsigned* b, unsigned long long* out) {
        int i = threadIdx.x; unsigned x = a[i], y = b[i]; unsigned long long w = ((unsigned long long)x << 32) | y;
        unsigned long long* o = out + i * 16;
        o[0] = __umulhi(x, y); o[1] = __brev(x); o[2] = __clzll(w); o[3] = __ffs(y); o[4] = __ffsll(w);
        o[5] = __byte_perm(x, y, 0x7531); o[6] = __funnelshift_l(x, y, y & 63); o[7] = __funnelshift_r(x, y, y & 63);
        o[8] = __popcll(w); o[9] = __brevll(w); o[10] = __umul64hi(w, ~w); o[11] = __sad((int)x, (int)y, 5u);
        o[12] = __usad(x, y, 7u); o[13] = (unsigned)__mul24((int)x, (int)y); o[14] = __vadd4(x, y); o[15] = __hadd((int)x, (int)y) & 0xffffffffu;
    }""",
    1, 100,
)  # fmt: skip
def integer_intrinsics(random):
    signed = lambda v, bits=32: v - (1 << bits) if v >> bits - 1 else v
    s24 = lambda v: signed(v & 0xFFFFFF, 24)
    a, b = random.integers(0, 2**32, (2, 100)).astype(u4) >> random.integers(0, 32, (2, 100)).astype(u4)
    rows = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        w = x << 32 | y
        bytes8 = list(x.to_bytes(4, "little") + y.to_bytes(4, "little"))
        rows.append([
            x * y >> 32, int(f"{x:032b}"[::-1], 2), 64 - w.bit_length(), (y & -y).bit_length(), (w & -w).bit_length(),
            sum(bytes8[s] << 8 * j for j, s in enumerate((1, 3, 5, 7))),
            (((y << 32 | x) << (y & 31)) >> 32) & 0xFFFFFFFF, ((y << 32 | x) >> (y & 31)) & 0xFFFFFFFF,
            w.bit_count(), int(f"{w:064b}"[::-1], 2), w * (w ^ 2**64 - 1) >> 64,
            abs(signed(x) - signed(y)) + 5 & 0xFFFFFFFF, abs(x - y) + 7 & 0xFFFFFFFF, s24(x) * s24(y) & 0xFFFFFFFF,
            sum(((x >> 8 * j & 255) + (y >> 8 * j & 255) & 255) << 8 * j for j in range(4)),
            signed(x) + signed(y) >> 1 & 0xFFFFFFFF,
        ])  # fmt: skip
    return (a, b, np.zeros((100, 16), u8)), {2: np.array(rows, u8)}


@case(
    """
    extern "C" __global__ void k(const float* in, float* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float x = in[i], a = fabsf(x) + 0.1f; float* o = out + i * 20;
        o[0] = 0.5f * x * (1 + erff(x * 0.70710678f)); o[1] = expf(x); o[2] = logf(a); o[3] = powf(a, x); o[4] = sinf(x);
        o[5] = cosf(x); o[6] = tanhf(x); o[7] = rsqrtf(a); o[8] = fmodf(x, 0.7f); o[9] = __expf(x); o[10] = __fdividef(x, a);
        o[11] = log1pf(a); o[12] = expm1f(x); o[13] = cbrtf(x); o[14] = atan2f(x, a); o[15] = hypotf(x, a);
        o[16] = exp2f(x); o[17] = log2f(a); o[18] = rintf(x * 10) + floorf(x) + ceilf(x) + truncf(x) + roundf(x * 3); o[19] = tanf(x);
    }""",
    4, 77, rtol=3e-5, atol=2e-6,
)  # fmt: skip
def float_functions(random):
    x = (random.normal(size=300) * 3).astype(f4)
    d = x.astype(f8)
    a = (np.abs(x) + f4(0.1)).astype(f8)
    erf = np.vectorize(math.erf)
    half_away = lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v)
    columns = [
        0.5 * d * (1 + erf(d * 0.70710678)), np.exp(d), np.log(a), a**d, np.sin(d), np.cos(d), np.tanh(d), a**-0.5,
        np.fmod(d, f8(f4(0.7))), np.exp(d), d / a, np.log1p(a), np.expm1(d), np.cbrt(d), np.arctan2(d, a), np.hypot(d, a),
        np.exp2(d), np.log2(a),
        np.rint(x * f4(10)) + np.floor(x) + np.ceil(x) + np.trunc(x) + half_away(x * f4(3)), np.tan(d),
    ]  # fmt: skip
    return (x, np.zeros((300, 20), f4), i4(300)), {1: np.stack(columns, 1)}


@case(
    """
    extern "C" __global__ void k(const double* in, double* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        double x = in[i], a = fabs(x) + 0.1, s, c; double* o = out + i * 16; int e;
        sincos(x, &s, &c);
        o[0] = s; o[1] = c; o[2] = exp(x); o[3] = log(a); o[4] = pow(a, x); o[5] = erf(x); o[6] = tgamma(a); o[7] = lgamma(a);
        o[8] = fmod(x, 0.7); o[9] = remainder(x, 0.7); o[10] = frexp(x, &e); o[11] = e; o[12] = ldexp(x, 5); o[13] = atan(x);
        o[14] = rsqrt(a); o[15] = fma(x, a, -x * a);
    }""",
    3, 60, rtol=1e-13, atol=1e-15,
)  # fmt: skip
def double_functions(random):
    x = random.normal(size=171) * 4
    a = np.abs(x) + 0.1
    each = lambda f, *v: np.vectorize(f)(*v)
    mantissa, exponent = np.frexp(x)
    exact = each(lambda p, q: float(__import__("fractions").Fraction(p) * __import__("fractions").Fraction(q)
                                    - __import__("fractions").Fraction(p * q)), x, a)  # fmt: skip
    columns = [np.sin(x), np.cos(x), np.exp(x), np.log(a), a**x, each(math.erf, x), each(math.gamma, a),
               each(math.lgamma, a), np.fmod(x, 0.7), each(math.remainder, x, 0.7), mantissa, exponent, x * 32,
               np.arctan(x), a**-0.5, exact]  # fmt: skip
    return (x, np.zeros((171, 16)), i4(171)), {1: np.stack(columns, 1)}


@case(
    """
    #include <cuda_fp16.h>
    extern "C" __global__ void k(const half2* a, const half2* b, half2* out, float* dot, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float part = 0;
        if (i < n) {
            half2 x = a[i], y = b[i];
            out[i] = __hfma2(x, y, __float2half2_rn(0.5f));
            if (__hgt(__low2half(x), __high2half(x))) out[i] = __lowhigh2highlow(out[i]);
            part = __half2float(x.x) * __half2float(y.x) + __high2float(x) * __high2float(y);
        }
        for (int d = 16; d; d >>= 1) part += __shfl_down_sync(0xffffffff, part, d);
        if (threadIdx.x % 32 == 0) atomicAdd(dot, part);
    }""",
    3, 64, rtol=2e-3, atol=1e-3,
)  # fmt: skip
def half2_fma_and_dot(random):
    a, b = random.normal(size=(2, 143, 2)).astype(np.float16)
    out = (a.astype(f8) * b.astype(f8) + 0.5).astype(np.float16)
    out = np.where((a[:, 0] > a[:, 1])[:, None], out[:, ::-1], out)
    return (a, b, a * 0, np.zeros(1, f4), i4(143)), {2: out, 3: [(a.astype(f8) * b).sum()]}


@case(
    """
    #include <cuda_bf16.h>
    extern "C" __global__ void k(const float* in, __nv_bfloat16* out, float* back, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) { out[i] = __float2bfloat16(in[i]); back[i] = __bfloat162float(out[i] * __float2bfloat16(3.0f)); }
    }""",
    2, 64, rtol=0,
)  # fmt: skip
def bfloat16_round_trip(random):
    x = random.normal(size=100).astype(f4)

    def rounded(v):
        bits = v.astype(f4).view(u4)
        return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)

    once = rounded(x)
    wide = (once.astype(u4) << 16).view(f4)
    return (x, once * 0, x * 0, i4(100)), {1: once, 2: (rounded(wide * f4(3)).astype(u4) << 16).view(f4)}


# ---------------------------------------------------------------- warps


@case(
    """
    extern "C" __global__ void k(const int* in, int* out) {
        int i = threadIdx.x, v = in[i]; int* o = out + i * 8; unsigned all = 0xffffffff;
        o[0] = __shfl_sync(all, v, 3, 8); o[1] = __shfl_up_sync(all, v, 2, 16); o[2] = __shfl_down_sync(all, v, 5, 8);
        o[3] = __shfl_xor_sync(all, v, 6, 4); o[4] = __shfl_sync(all, v, i + 1); o[5] = __shfl_xor_sync(all, v, 31);
        long long w = __shfl_sync(all, (long long)v << 33, 31 - i % 32); o[6] = (int)(w >> 33);
        o[7] = __shfl_down_sync(all, v, 1, 2);
    }""",
    1, 64,
)  # fmt: skip
def shuffles_of_narrow_width(random):
    v = random.integers(-1000, 1000, 64).astype(i4)
    i = np.arange(64)
    base = i & ~31

    def take(source, ok):
        return v[np.where(ok, source, i)]

    want = [
        v[(i & ~7) + 3], take(i - 2, (i & 15) >= 2), take(i + 5, (i & 7) + 5 < 8),
        take(i ^ 6, (i ^ 6) % 32 < (i % 32 & ~3) + 4), v[base + (i + 1) % 32], v[i ^ 31], v[base + 31 - i % 32],
        take(i + 1, i % 2 == 0),
    ]  # fmt: skip
    return (v, np.zeros((64, 8), i4)), {1: np.stack(want, 1)}


@case(
    """
    __device__ int counter;
    extern "C" __global__ void k(const int* in, int* out, int* total, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
        bool keep = i < n && in[i] % 3 == 0;
        unsigned mask = __ballot_sync(0xffffffff, keep);
        int base = 0;
        if (lane == 0 && mask) base = atomicAdd(total, __popc(mask));
        base = __shfl_sync(0xffffffff, base, 0);
        if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
    }""",
    1, 128,
)  # fmt: skip
def ballot_compaction(random):
    x = random.integers(0, 100, 120).astype(i4)
    kept = x[x % 3 == 0]
    # One block's warps may come in any order: what is compared is made insensitive to it by equal values below.
    x[:] = np.where(x % 3 == 0, 3, x)
    want = np.full(120, -1, i4)
    want[: len(kept)] = 3
    return (x, np.full(120, -1, i4), np.zeros(1, i4), i4(120)), {1: want, 2: [len(kept)]}


@case(
    """
    __device__ int aggregated(int* p) {
        unsigned active = __activemask();
        int leader = __ffs(active) - 1, lane = threadIdx.x & 31, old = 0;
        if (lane == leader) old = atomicAdd(p, __popc(active));
        return __shfl_sync(active, old, leader) + __popc(active & ((1u << lane) - 1));
    }
    extern "C" __global__ void k(const int* in, int* out, int* count, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n && in[i] > 0) out[aggregated(count)] = 1;
    }""",
    4, 96,
)  # fmt: skip
def warp_aggregated_atomics(random):
    x = random.integers(-5, 5, 333).astype(i4)
    n = int((x > 0).sum())
    return (x, np.zeros(333, i4), np.zeros(1, i4), i4(333)), {1: (np.arange(333) < n).astype(i4), 2: [n]}


@case(
    """
    extern "C" __global__ void k(const int* keys, int* count, unsigned* sum, int* extremes) {
        int i = threadIdx.x, key = keys[i];
        unsigned peers = __match_any_sync(0xffffffff, key);
        if (__ffs(peers) - 1 == i % 32) atomicAdd(&count[key], __popc(peers));
        sum[i] = __reduce_add_sync(0xffffffff, (unsigned)key);
        extremes[2 * i] = __reduce_min_sync(0xffffffff, key - 3);
        extremes[2 * i + 1] = __reduce_max_sync(0xffffffff, key - 3);
        int uniform; __match_all_sync(0xffffffff, key >> 10, &uniform);
        if (!uniform) count[0] = -1;
    }""",
    1, 64,
)  # fmt: skip
def match_and_reduce(random):
    x = random.integers(0, 7, 64).astype(i4)
    warp = x.reshape(2, 32)
    low_high = np.stack([np.repeat(warp.min(1) - 3, 32), np.repeat(warp.max(1) - 3, 32)], 1)
    return (x, np.zeros(7, i4), np.zeros(64, u4), np.zeros((64, 2), i4)), {
        1: np.bincount(x, minlength=7), 2: np.repeat(warp.sum(1), 32), 3: low_high}  # fmt: skip


@case(
    """
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    template <int size> __device__ float tile_sum(cg::thread_block_tile<size> tile, float v) {
        for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
        return v;
    }
    extern "C" __global__ void k(const float* in, float* sums, int* ranks, int n) {
        cg::thread_block block = cg::this_thread_block();
        auto tile = cg::tiled_partition<16>(block);
        int i = block.group_index().x * block.size() + block.thread_rank();
        float v = tile_sum<16>(tile, i < n ? in[i] : 0);
        if (tile.thread_rank() == 0) sums[i / 16] = v;
        __shared__ int last;
        if (block.thread_rank() == block.size() - 1) last = block.thread_rank();
        block.sync();
        ranks[i] = tile.meta_group_rank() * 1000 + tile.thread_rank() + last * 100000 + (tile.any(i == 3) ? 1 << 30 : 0);
    }""",
    3, 64, rtol=1e-5, atol=1e-5,
)  # fmt: skip
def cooperative_tiles(random):
    x = random.normal(size=180).astype(f4)
    padded = np.zeros(192, f4)
    padded[:180] = x
    i = np.arange(192)
    ranks = i % 64 // 16 * 1000 + i % 16 + 63 * 100000 + np.where(i < 16, 1 << 30, 0)
    return (x, np.zeros(12, f4), np.zeros(192, i4), i4(180)), {1: padded.reshape(12, 16).sum(1), 2: ranks}


@case(
    """
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* in, int* sums, int* most, int n) {
        auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;
        int total = cg::reduce(warp, v, cg::plus<int>()), top = cg::reduce(warp, v, cg::greater<int>());
        if (warp.thread_rank() == 0) { atomicAdd(sums, total); atomicMax(most, top); }
        if (v > 50) { auto active = cg::coalesced_threads(); if (active.thread_rank() == 0) atomicAdd(sums + 1, active.size()); }
    }""",
    2, 96,
)  # fmt: skip
def cooperative_reduce(random):
    x = random.integers(0, 100, 170).astype(i4)
    return (x, np.zeros(2, i4), np.zeros(1, i4), i4(170)), {1: [x.sum(), (x > 50).sum()], 2: [x.max()]}


# ---------------------------------------------------------------- atomics


@case(
    """
    __device__ float atomicMaxFloat(float* address, float value) {
        int* as_int = (int*)address; int old = *as_int, assumed;
        do { assumed = old; old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed)))); } while (assumed != old);
        return __int_as_float(old);
    }
    __device__ double atomicMulDouble(double* address, double value) {
        unsigned long long* p = (unsigned long long*)address; unsigned long long old = *p, assumed;
        do { assumed = old; old = atomicCAS(p, assumed, __double_as_longlong(value * __longlong_as_double(assumed))); } while (assumed != old);
        return __longlong_as_double(old);
    }
    extern "C" __global__ void k(const float* in, float* top, double* product, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) { atomicMaxFloat(top, in[i]); atomicMulDouble(product, 1.0 + in[i] * 0.01); }
    }""",
    3, 100, rtol=1e-12,
)  # fmt: skip
def compare_and_swap_loops(random):
    x = random.normal(size=271).astype(f4) - f4(5)
    return (x, np.full(1, -np.inf, f4), np.ones(1), i4(271)), {
        1: [x.max()],
        2: [(1 + (x * 1.0).astype(f8) * 0.01).prod()],
    }


@case(
    """
    extern "C" __global__ void k(const long long* in, long long* out, unsigned long long* total, unsigned* wrap, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        atomicMin(out, in[i]); atomicMax(out + 1, in[i]); atomicAdd(total, (unsigned long long)in[i]);
        atomicXor(total + 1, (unsigned long long)in[i]); atomicAnd(total + 2, (unsigned long long)in[i]); atomicOr(total + 3, (unsigned long long)in[i]);
        atomicInc(wrap, 16); atomicDec(wrap + 1, 16); atomicSub((int*)wrap + 2, 2); atomicExch(wrap + 3, 9u);
    }""",
    3, 64,
)  # fmt: skip
def wide_and_wrapping_atomics(random):
    x = random.integers(-(2**62), 2**62, 177)
    bits = x.view(u8)
    fold = lambda f: f.reduce(bits)
    dec = 5
    for _ in range(177):
        dec = 16 if dec == 0 or dec > 16 else dec - 1
    start = np.array([3, 5, 1000, 0], u4)
    return (x, np.array([2**63 - 1, -(2**63)]), np.array([0, 0, 2**64 - 1, 0], u8), start, i4(177)), {
        1: [x.min(), x.max()],
        2: [fold(np.add), fold(np.bitwise_xor), fold(np.bitwise_and), fold(np.bitwise_or)],
        3: [(3 + 177) % 17, dec, 1000 - 354, 9]}  # fmt: skip


@case(
    """
    __device__ unsigned retired = 0;
    extern "C" __global__ void k(const float* in, volatile float* partial, float* out, int n) {
        __shared__ float s[128]; __shared__ bool last;
        int t = threadIdx.x;
        float v = 0;
        for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += in[i];
        s[t] = v; __syncthreads();
        for (int d = blockDim.x / 2; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
        if (t == 0) {
            partial[blockIdx.x] = s[0];
            __threadfence();
            last = atomicInc(&retired, gridDim.x) == gridDim.x - 1;
        }
        __syncthreads();
        if (last && t == 0) { float sum = 0; for (int b = 0; b < gridDim.x; ++b) sum += partial[b]; *out = sum; retired = 0; }
    }""",
    7, 128, rtol=1e-5,
)  # fmt: skip
def last_block_finishes(random):
    x = random.random(5001).astype(f4)
    return (x, np.zeros(7, f4), np.zeros(1, f4), i4(5001)), {2: [x.sum(dtype=f8)]}


@case(
    """
    struct Lock { int state; __device__ void lock() { while (atomicCAS(&state, 0, 1) != 0); __threadfence(); } __device__ void unlock() { __threadfence(); atomicExch(&state, 0); } };
    __device__ Lock locks[4];
    extern "C" __global__ void k(int* table, const int* keys, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int key = keys[i] & 3;
        bool done = false;
        while (!done) {
            if (atomicCAS(&locks[key].state, 0, 1) == 0) { volatile int* t = table; t[key] = t[key] + 1; __threadfence(); locks[key].unlock(); done = true; }
        }
        if (threadIdx.x == 0) { locks[0].lock(); ((volatile int*)table)[4]++; locks[0].unlock(); }
    }""",
    4, 64,
)  # fmt: skip
def spin_locks(random):
    x = random.integers(0, 4, 250).astype(i4)
    return (np.zeros(5, i4), x, i4(250)), {0: [*np.bincount(x, minlength=4), 4]}


@case(
    """
    extern "C" __global__ void k(const unsigned* keys, unsigned* table_keys, int* values, int capacity, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        unsigned key = keys[i], slot = (key * 2654435761u) % capacity;
        while (true) {
            unsigned old = atomicCAS(&table_keys[slot], 0xffffffffu, key);
            if (old == 0xffffffffu || old == key) { atomicAdd(&values[key], 1); return; }
            slot = (slot + 1) % capacity;
        }
    }""",
    4, 100,
)  # fmt: skip
def open_addressing_hash_table(random):
    x = random.integers(0, 60, 390).astype(u4)
    return (x, np.full(61, 0xFFFFFFFF, u4), np.zeros(60, i4), i4(61), i4(390)), {2: np.bincount(x, minlength=60)}


# ---------------------------------------------------------------- sorting and scanning


@case(
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


@case(
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


@case(
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
    1, 128,
)  # fmt: skip
def radix_sort(random):
    x = random.integers(0, 2**32, 113).astype(u4)
    return (x, x * 0, i4(113)), {1: np.sort(x)}


@case(
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


@case(
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


@case(
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


# ---------------------------------------------------------------- grids and stencils


@case(
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


@case(
    """
    extern "C" __global__ void k(int* out, int w, int h, int limit) {
        int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
        if (px >= w || py >= h) return;
        double cx = -2.0 + 3.0 * px / w, cy = -1.5 + 3.0 * py / h, x = 0, y = 0;
        int n = 0;
        while (n < limit && x * x + y * y <= 4.0) { double t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; ++n; }
        out[py * w + px] = n;
    }""",
    (3, 5), (16, 8),
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


@case(
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


@case(
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


@case(
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


@case(
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


# ---------------------------------------------------------------- linear algebra, graphs, learning


@case(
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
    14, 160, rtol=1e-4, atol=1e-5,
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


@case(
    """
    extern "C" __global__ void k(float* d, int n) {
        for (int via = 0; via < n; ++via) {
            for (int i = threadIdx.y; i < n; i += blockDim.y)
                for (int j = threadIdx.x; j < n; j += blockDim.x)
                    d[i * n + j] = fminf(d[i * n + j], d[i * n + via] + d[via * n + j]);
            __syncthreads();
        }
    }""",
    1, (16, 7), rtol=1e-6,
)  # fmt: skip
def floyd_warshall(random):
    d = np.where(random.random((21, 21)) < 0.2, random.random((21, 21)), np.inf).astype(f4)
    np.fill_diagonal(d, 0)
    want = d.copy()
    for via in range(21):
        want = np.minimum(want, want[:, via, None] + want[via])
    return (d, i4(21)), {0: want}


@case(
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


@case(
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


@case(
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
    1, 40, rtol=1e-9, atol=1e-11,
)  # fmt: skip
def gauss_elimination(random):
    a, x = random.normal(size=(23, 23)), random.normal(size=23)
    return (a, a @ x, i4(23)), {1: x}


@case(
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


@case(
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
    5, 96, rtol=1e-4, atol=1e-6,
)  # fmt: skip
def softmax_and_layernorm(random):
    x, g, b = random.normal(size=(5, 203)).astype(f4), *random.normal(size=(2, 203)).astype(f4)
    e = np.exp(x - x.max(1, keepdims=True))
    norm = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b
    return (x, g, b, x * 0, x * 0, i4(203)), {3: e / e.sum(1, keepdims=True), 4: norm}


@case(
    """
    struct Xorshift { unsigned x, y, z, w; __device__ unsigned next() { unsigned t = x ^ (x << 11); x = y; y = z; z = w; return w = w ^ (w >> 19) ^ t ^ (t >> 8); } };
    struct LCG { unsigned long long s; __device__ unsigned next() { s = s * 6364136223846793005ULL + 1442695040888963407ULL; return (unsigned)(s >> 32); } };
    extern "C" __global__ void k(unsigned* a, unsigned* b, int* inside, int rounds) {
        int i = threadIdx.x;
        Xorshift g{123456789u + i, 362436069u, 521288629u, 88675123u}; LCG l{(unsigned long long)i};
        int hits = 0;
        for (int r = 0; r < rounds; ++r) { float u = g.next() * 2.3283064e-10f, v = l.next() * 2.3283064e-10f; hits += u * u + v * v < 1; }
        a[i] = g.next(); b[i] = l.next(); atomicAdd(inside, hits);
    }""",
    1, 48, rtol=0,
)  # fmt: skip
def monte_carlo_generators(random):
    a, b, inside = [], [], 0
    for i in range(48):
        x, y, z, w, s = 123456789 + i, 362436069, 521288629, 88675123, i
        for r in range(51):
            t = (x ^ x << 11) & 0xFFFFFFFF
            x, y, z, w = y, z, w, w ^ w >> 19 ^ t ^ t >> 8
            s = (s * 6364136223846793005 + 1442695040888963407) % 2**64
            if r < 50:
                u, v = f4(w) * f4(2.3283064e-10), f4(s >> 32) * f4(2.3283064e-10)
                inside += bool(u * u + v * v < 1)
        a.append(w)
        b.append(s >> 32)
    return (np.zeros(48, u4), np.zeros(48, u4), np.zeros(1, i4), i4(50)), {0: a, 1: b, 2: [inside]}


@case(
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
    (2, 2), (8, 8), rtol=1e-4, atol=1e-4,
)  # fmt: skip
def register_blocked_matrix_product(random):
    a, b = random.normal(size=(45, 29)).astype(f4), random.normal(size=(29, 50)).astype(f4)
    return (a, b, np.zeros((45, 50), f4), i4(45), i4(50), i4(29)), {2: a @ b}


@case(
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
    3, 50, shared=128 * 16, rtol=1e-9, atol=1e-9,
)  # fmt: skip
def fourier_transform(random):
    x = random.normal(size=(3, 128)) + 1j * random.normal(size=(3, 128))
    return (x, x * 0, i4(7)), {1: np.fft.fft(x)}


@case(
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


@case(
    """
    struct __align__(16) Params { float scale[4]; int offset; double bias; bool flip; char tag[3]; };
    __constant__ Params fixed = {{1, 2, 3, 4}, 5, 0.25, true, {'a', 'b', 'c'}};
    extern "C" __global__ void k(Params p, const float* in, double* out) {
        int i = threadIdx.x;
        const Params& q = i & 1 ? p : fixed;
        double v = in[i] * q.scale[i & 3] + q.offset + q.bias;
        out[i] = q.flip ? -v + q.tag[i % 3] : v;
    }""",
    1, 37, rtol=1e-6,
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


@case(
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


@case(
    """
    extern "C" __global__ void k(const unsigned char* in, unsigned* histogram, int n) {
        __shared__ unsigned bins[4][64];
        for (int i = threadIdx.x; i < 256; i += blockDim.x) (&bins[0][0])[i] = 0;
        __syncthreads();
        unsigned* mine = bins[threadIdx.x / 32 % 4];
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
            unsigned word = ((const unsigned*)in)[i];
            for (int b = 0; b < 4; ++b, word >>= 8) atomicAdd(&mine[(word & 0xff) >> 2], 1u);
        }
        if (blockIdx.x == 0 && threadIdx.x < n % 4) atomicAdd(&mine[in[n - 1 - threadIdx.x] >> 2], 1u);
        __syncthreads();
        if (threadIdx.x < 64) atomicAdd(&histogram[threadIdx.x], bins[0][threadIdx.x] + bins[1][threadIdx.x] + bins[2][threadIdx.x] + bins[3][threadIdx.x]);
    }""",
    3, 128,
)  # fmt: skip
def histogram_of_words(random):
    x = random.integers(0, 256, 4099).astype(np.uint8)
    return (x, np.zeros(64, u4), i4(4099)), {1: np.bincount(x >> 2, minlength=64)}


@case(
    """
    extern "C" __global__ void k(const float* spot, float* call, float* put, float strike, float rate, float volatility, float years, int n) {
        auto cnd = [](float d) {
            float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
            float c = 0.39894228f * __expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
            return d > 0 ? 1.0f - c : c;
        };
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
            float root = sqrtf(years), d1 = (__logf(spot[i] / strike) + (rate + 0.5f * volatility * volatility) * years) / (volatility * root), d2 = d1 - volatility * root;
            float discount = __expf(-rate * years);
            call[i] = spot[i] * cnd(d1) - strike * discount * cnd(d2);
            put[i] = strike * discount * (1 - cnd(d2)) - spot[i] * (1 - cnd(d1));
        }
    }""",
    2, 50, rtol=1e-3, atol=1e-3,
)  # fmt: skip
def black_scholes(random):
    s = random.uniform(5, 30, 123).astype(f4)
    cnd = lambda d: 0.5 * (1 + np.vectorize(math.erf)(d / math.sqrt(2)))
    d1 = (np.log(s / 15.0) + (0.02 + 0.045) * 2) / (0.3 * math.sqrt(2))
    d2, discount = d1 - 0.3 * math.sqrt(2), math.exp(-0.04)
    call = s * cnd(d1) - 15 * discount * cnd(d2)
    return (s, s * 0, s * 0, f4(15), f4(0.02), f4(0.3), f4(2), i4(123)), {1: call, 2: call - s + 15 * discount}


@case(
    """
    extern "C" __global__ void k(int* board_count, int n) {   // queens, an explicit stack in local memory
        int first = threadIdx.x, found = 0;
        if (first >= n) return;
        int column[12]; column[0] = first; int row = 1; column[1] = -1;
        while (row > 0) {
            bool placed = false;
            while (++column[row] < n) {
                bool ok = true;
                for (int r = 0; r < row && ok; ++r) { int d = column[row] - column[r]; ok = d != 0 && d != row - r && d != r - row; }
                if (ok) { placed = true; break; }
            }
            if (!placed) { --row; continue; }
            if (row == n - 1) { ++found; continue; }
            column[++row] = -1;
        }
        board_count[first] = found;
    }""",
    1, 32,
)  # fmt: skip
def queens_with_a_stack(random):
    return (np.zeros(7, i4), i4(7)), {0: [4, 7, 6, 6, 6, 7, 4]}


@case(
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernel(case):
    check(case)


# ---------------------------------------------------------------- both engines


def test_tiles_of_a_warp_answer_for_themselves(engine):
    kernel = engine.c("""
        #define ALL 0xffffffffu
        extern "C" __global__ void k(const int* in, unsigned* out) {
            int i = threadIdx.x, v = in[i]; unsigned tile = 0xffu << (i & 24), *o = out + 8 * i; int same;
            o[0] = __reduce_add_sync(tile, v); o[1] = __reduce_min_sync(tile, v); o[2] = __ballot_sync(tile, v > 3);
            o[3] = __any_sync(tile, v > 8); o[4] = __all_sync(tile, v > 1); o[5] = __match_any_sync(tile, v);
            o[6] = __match_all_sync(tile, v / 100, &same) + same;
            if (i & 8) o[7] = __reduce_xor_sync(tile, v); else o[7] = __ballot_sync(tile, v & 1);
        }""")
    v = np.random.default_rng(3).integers(0, 10, 64).astype(i4)
    out = np.zeros((64, 8), u4)
    kernel(1, 64, v, out)
    tiles, shift = v.reshape(8, 8), np.arange(8)[:, None] % 4 * 8
    bits = lambda said: ((said << np.arange(8)).sum(1)[:, None] << shift).ravel()
    alike = (tiles[:, :, None] == tiles[:, None]) << np.arange(8)
    want = [tiles.sum(1), tiles.min(1), bits(tiles > 3), (tiles > 8).any(1), (tiles > 1).all(1),
            (alike.sum(2) << shift).ravel(), (255 << shift.ravel()) + 1,
            np.where(np.arange(8) % 2, np.bitwise_xor.reduce(tiles, 1), bits(tiles & 1))]  # fmt: skip
    for column, wanted in enumerate(want):
        np.testing.assert_array_equal(out[:, column], np.repeat(wanted, 64 // len(wanted)), err_msg=str(column))


# ---------------------------------------------------------------- what is refused, and in which words


def refusal(body: str, before: str = "", error=VirtualGPUError) -> str:
    """What a learner is told who launches a kernel of one array `x` with this body on its fourth line."""
    source = f'{before}\n\nextern "C" __global__ void k(float* x) {{\n{body}\n}}'
    with pytest.raises(error) as raised:
        cp.RawKernel(source, "k")((1,), (32,), (cp.zeros(64, f4),))
    return str(raised.value)


REFUSED = {
    "cube_map": ("x[0] = texCubemap<float>((cudaTextureObject_t)x, 0, 0, 1);", "", "texture", "layered"),
    "tensor_cores_on_bits": (
        "using namespace nvcuda::wmma; typedef experimental::precision::b1 b1; fragment<matrix_a, 8, 8, 128, b1, "
        "row_major> a; fragment<matrix_b, 8, 8, 128, b1, col_major> b; fragment<accumulator, 8, 8, 128, int> c; "
        "fill_fragment(c, 0); bmma_sync(c, a, b, c); x[0] = c.x[0];",
        "#include <mma.h>", "tensor-core", "8-bit integers",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_missing_is_named_with_its_line_and_a_way_round(name):
    body, before, *words = REFUSED[name]
    told = refusal(body, before, Unsupported)
    for word in (*words, "line 4"):
        assert word in told


def test_a_barrier_for_the_whole_grid_needs_a_cooperative_launch():
    told = refusal("cooperative_groups::this_grid().sync(); x[0] = 1;", "#include <cooperative_groups.h>")
    assert "trap" in told and "enable_cooperative_groups=True" in told and "line 4" in told


def test_fixed_shared_arrays_end_at_48_kib():
    told = refusal("__shared__ float s[13000]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[31 - threadIdx.x];")
    assert "52000 bytes" in told and "49152" in told and "dynamic" in told


def test_a_shared_array_is_named_when_it_is_left():
    told = refusal("__shared__ float s[32]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[threadIdx.x + 1];")
    assert "`s` has bytes 0 to 127" in told and "thread (31)" in told and "line 4" in told


@pytest.mark.parametrize(
    ("include", "says"),
    [("stdio.h", "Remove this line"), ("vector", "arrays and loops"), ("curand_kernel.h", "cp.random"),
     ("stdint.h", "cuda/std/cstdint")],
)  # fmt: skip
def test_headers_of_the_host_are_told_apart(include, says):
    assert says in refusal("x[0] = 1;", f"#include <{include}>")


def test_a_launch_inside_the_source_belongs_to_python():
    assert "launched from Python" in refusal("x[0] = 1;", "__global__ void f(); void run() { f<<<1, 1>>>(); }")


def test_arguments_without_their_tuple():
    x = cp.zeros(4, f4)
    kernel = cp.RawKernel('extern "C" __global__ void k(float* x, int n) { x[0] = n; }', "k")
    with pytest.raises(TypeError, match="one tuple"):
        kernel((1,), (1,), x, 1)
