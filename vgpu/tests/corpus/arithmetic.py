"""Arithmetic of every width as the compiler writes it, and the functions of the numerical libraries."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

from __future__ import annotations

import math

import numpy as np

from vgpu.tests.corpus.row import c

f4, f8, i4, u4, i8, u8 = np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64
INTEGERS = {
    "signed char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16,
    "int": i4, "unsigned": u4, "long long": i8, "unsigned long long": u8,
}  # fmt: skip


def every_bit(dtype, n=96, seed=1) -> np.ndarray:
    raw = np.random.default_rng(seed).integers(0, 256, n * np.dtype(dtype).itemsize, dtype=np.uint8)
    data = raw.view(dtype).copy()
    info = np.iinfo(dtype)
    data[:8] = np.array([0, 1, 2, 3, info.max, info.min, info.max - 1, info.min + 1], dtype)
    return data


def quotients(a, b) -> np.ndarray:
    """a / b as C rounds it, towards zero."""
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return np.array([abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs], a.dtype)


@c(
    """
    template <typename T> __device__ void all(const T* a, const T* b, T* out, int i, int n) {
        T x = a[i], y = b[i]; const int bits = 8 * sizeof(T) - 1;
        out[i] = x + y; out[n + i] = x - y; out[2 * n + i] = x * y; out[3 * n + i] = x / y; out[4 * n + i] = x % y;
        out[5 * n + i] = x & y; out[6 * n + i] = x | ~y; out[7 * n + i] = x ^ y;
        out[8 * n + i] = x << (y & bits); out[9 * n + i] = x >> (y & bits);
        out[10 * n + i] = x < y ? x : y; out[11 * n + i] = -x; out[12 * n + i] = x == y || x > 100;
    }
    extern "C" __global__ void k(PARAMETERS, int n) { int i = threadIdx.x; CALLS }"""
    .replace("PARAMETERS", ", ".join(f"const {t}* a{i}, const {t}* b{i}, {t}* o{i}" for i, t in enumerate(INTEGERS)))
    .replace("CALLS", " ".join(f"all(a{i}, b{i}, o{i}, i, n);" for i in range(len(INTEGERS)))),
    1, 96, check=True,
)  # fmt: skip
def integers_of_every_width(random):
    arguments, expected = [], {}
    for dtype in INTEGERS.values():
        a, b = every_bit(dtype, seed=1), np.roll(every_bit(dtype, seed=2), 3)
        b >>= random.integers(0, np.iinfo(dtype).bits, 96).astype(dtype)  # quotients of every size
        b[(b == 0) | ((b == dtype(-1)) if np.iinfo(dtype).min else (b == 0))] = 3
        small, quotient = b & dtype(np.iinfo(dtype).bits - 1), quotients(a, b)
        with np.errstate(all="ignore"):
            rows = [a + b, a - b, a * b, quotient, a - quotient * b, a & b, a | ~b, a ^ b, a << small, a >> small,
                    np.minimum(a, b), dtype(0) - a, (a == b) | (a > 100)]  # fmt: skip
        arguments += [a, b, np.zeros((13, 96), dtype)]
        expected[len(arguments) - 1] = np.array(rows, dtype)
    return (*arguments, i4(96)), expected


@c(
    """
    extern "C" __global__ void k(const long long* a, const long long* b, long long* q, unsigned long long* u) {
        int i = threadIdx.x;
        q[i] = a[i] / b[i]; q[64 + i] = a[i] % b[i]; q[128 + i] = a[i] / 7; q[192 + i] = a[i] % 1000000007;
        u[i] = (unsigned long long)a[i] / (unsigned long long)b[i]; u[64 + i] = (unsigned long long)a[i] % 10;
    }""",
    1, 64,
)  # fmt: skip
def divisions_of_64_bits_by_values_and_constants(random):
    a = every_bit(i8, 64, 3)
    b = np.where(every_bit(i8, 64, 4) >> 20 == 0, 3, every_bit(i8, 64, 4) >> (np.arange(64) % 60))
    b[b == 0] = 5
    q, constant = quotients(a, b), lambda n: quotients(a, np.full(64, n))
    signed = np.stack([q, a - q * b, constant(7), a - constant(1000000007) * 1000000007])
    unsigned = np.stack([a.view(u8) // b.view(u8), a.view(u8) % u8(10)])
    return (a, b, np.zeros((4, 64), i8), np.zeros((2, 64), u8)), {2: signed, 3: unsigned}


@c(
    """
    template <typename T> __device__ void ieee(const T* a, const T* b, T* out) {
        int i = threadIdx.x; T x = a[i], y = b[i];
        out[i] = x + y; out[64 + i] = x - y; out[128 + i] = x * y; out[192 + i] = x / y;
        out[256 + i] = fmin(x, y); out[320 + i] = fmax(x, y); out[384 + i] = copysign(x, y); out[448 + i] = x < y ? -x : fabs(y);
    }
    extern "C" __global__ void k(const float* a, const float* b, float* out, const double* c, const double* d, double* wide) {
        ieee(a, b, out); ieee(c, d, wide);
    }""",
    1, 64, options=("--fmad=false",), check=True,
)  # fmt: skip
def arithmetic_of_floats_is_ieee(random):
    edge = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-310, 3e38, 1e-45, 0.1, -2.5, 7, 1e300, 3, 1e-30])
    arguments, expected = [], {}
    with np.errstate(all="ignore"):
        for dtype in (f4, f8):
            a, b = np.repeat(edge[:8], 8).astype(dtype), np.tile(edge[8:], 8).astype(dtype)
            a, b = np.where(np.arange(64) % 3, a, b), np.where(np.arange(64) % 5, b, a)
            arguments += [a, b, np.zeros((8, 64), dtype)]
            expected[len(arguments) - 1] = np.array([
                a + b, a - b, a * b, a / b, np.fmin(a, b), np.fmax(a, b), np.copysign(a, b),
                np.where(a < b, -a, np.abs(b))])  # fmt: skip
    return tuple(arguments), expected


@c(
    """
    extern "C" __global__ void k(const double* in, signed char* c, short* s, int* i, long long* l, unsigned* u, float* f, int* r, float* back) {
        int t = threadIdx.x;
        double v = in[t];
        c[t] = (int)v; s[t] = (int)v; i[t] = v; l[t] = v; u[t] = v < 0 ? 0 : v; f[t] = v;
        r[t] = __double2int_rn(v); r[64 + t] = __float2int_ru((float)v); r[128 + t] = lrintf(v);
        back[t] = l[t]; back[64 + t] = u[t]; back[128 + t] = (float)c[t] + s[t];
    }""",
    1, 64, check=True,
)  # fmt: skip
def conversions_between_widths(random):
    data = np.linspace(-40000.7, 40000.3, 64)
    single, t = data.astype(f4), np.trunc(data).astype(i8)
    narrow = [t.astype(dtype) for dtype in (np.int8, np.int16, i4, i8)] + [np.maximum(t, 0).astype(u4), single]
    rounded = np.stack([np.rint(data), np.ceil(single), np.rint(single)]).astype(i4)
    back = np.stack([t, np.maximum(t, 0), t.astype(np.int8) + t.astype(np.int16).astype(f8)]).astype(f4)
    every = [*narrow, rounded, back]
    return (data, *(x * 0 for x in every)), dict(enumerate(every, 1))


@c(
    """
    #include <cuda_fp16.h>
    extern "C" __global__ void k(const __half* a, const __half* b, __half* out, __half* near, float* wide, __half2* pairs) {
        int i = threadIdx.x; __half x = a[i], y = b[i];
        out[i] = x + y; out[64 + i] = x * y; out[128 + i] = __hfma(x, y, x); out[192 + i] = __hmax(x, y); out[256 + i] = __hneg(x);
        out[320 + i] = __habs(x); out[384 + i] = __int2half_rn(i * 77); out[448 + i] = __double2half(0.1 * i);
        near[i] = x / y; near[64 + i] = __hlt(x, y) ? __float2half(__half2float(x) * 3) : hsqrt(__habs(y));
        wide[i] = __half2float(x) + (float)y; wide[64 + i] = __half2int_rn(x) + __half2ushort_rz(__habs(y));
        __half2 p = __halves2half2(x, y);
        pairs[i] = __hadd2(__hmul2(p, p), __float2half2_rn(1.0f)); pairs[64 + i] = __hgt2(p, __lowhigh2highlow(p));
    }""",
    1, 64,
)  # fmt: skip
def half_precision(random):
    a, b = (random.normal(size=(2, 64)) * 4).astype(np.float16)
    x, y, i = a.astype(f8), b.astype(f8), np.arange(64)
    once = np.array([x + y, x * y, x * y + x, np.maximum(x, y), -x, np.abs(x), i * 77, 0.1 * i]).astype(np.float16)
    # Quotients and roots go through approximations, as on a GPU; all else is rounded once.
    close = np.array([x / y, np.where(x < y, x * 3, np.sqrt(np.abs(y)))]).astype(np.float16).view(np.int16).astype(int)
    wide = np.stack([a.astype(f4) + b.astype(f4), np.rint(x) + np.trunc(np.abs(y))])
    both = np.stack([a, b], axis=1)
    pairs = np.stack([both * both + np.float16(1), np.stack([x > y, y > x], axis=1)])
    return (a, b, once * 0, np.zeros((2, 64), np.float16), np.zeros((2, 64), f4), pairs * 0), {
        2: once, 3: lambda found: np.abs(found.view(np.int16) - close).max() <= 1, 4: wide, 5: pairs}  # fmt: skip


def bfloat(x) -> np.ndarray:
    bits = np.asarray(x, f4).view(u4).astype(u8)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


@c(
    """
    #include <cuda_bf16.h>
    extern "C" __global__ void k(const __nv_bfloat16* a, const float* b, __nv_bfloat16* out, float* wide, __nv_bfloat162* pairs) {
        int i = threadIdx.x; __nv_bfloat16 x = a[i], y = __float2bfloat16(b[i]);
        out[i] = y; out[64 + i] = x + y; out[128 + i] = x * y; out[192 + i] = __hfma(x, y, x); out[256 + i] = __hmin(x, y);
        wide[i] = __bfloat162float(x) - (float)y;
        pairs[i] = __hfma2(__halves2bfloat162(x, y), __halves2bfloat162(y, x), __float2bfloat162_rn(2.0f));
    }""",
    1, 64,
)  # fmt: skip
def bfloat16(random):
    single = lambda raw: (raw.astype(u4) << 16).view(f4)
    a, b = bfloat(random.normal(size=64)), (random.normal(size=64) * 3).astype(f4)
    x, y = single(a).astype(f8), single(bfloat(b)).astype(f8)
    out = np.array([bfloat(row) for row in (y, x + y, x * y, x * y + x, np.minimum(x, y))])
    return (a, b, out * 0, np.zeros(64, f4), np.zeros((64, 2), np.uint16)), {
        2: out, 3: (x - y).astype(f4), 4: np.stack([bfloat(x * y + 2)] * 2, axis=1)}  # fmt: skip


ROUNDED = "\n".join(
    f"out[{64 * (4 * k + m)} + i] = __{f}_{mode}({given});"
    for k, (f, given) in enumerate([("fadd", "x, y"), ("fmul", "x, y"), ("fdiv", "x, y"), ("fmaf", "x, y, x")])
    for m, mode in enumerate(("rn", "rz", "rd", "ru"))
)


@c(
    f"""
    extern "C" __global__ void k(const float* a, const float* b, float* out) {{
        int i = threadIdx.x; float x = a[i], y = b[i];
        {ROUNDED}
    }}""",
    1, 64,
)  # fmt: skip
def rounding_as_asked(random):
    """`__fadd_rd` and its like round the way their name says."""
    a, b = random.normal(size=(2, 64)).astype(f4)
    x, y = a.astype(np.longdouble), b.astype(np.longdouble)  # on x86-64 wider than a double: exact enough to round once
    rows = []
    for exact in (x + y, x * y, x / y, x * y + x):
        near = exact.astype(f4)
        down = np.where(near > exact, np.nextafter(near, f4(-np.inf)), near)
        up = np.where(near < exact, np.nextafter(near, f4(np.inf)), near)
        rows.append([near, np.where(exact < 0, up, down), down, up])
    return (a, b, np.zeros((4, 4, 64), f4)), {2: np.array(rows)}


@c(
    """
    extern "C" __global__ void k(const unsigned* in, unsigned* out) {
        unsigned a = in[threadIdx.x], b = a * 3u, c = b ^ 77u, x, y, z, w;
        asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(x) : "r"(a), "r"(b), "r"(c));
        asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(y) : "r"(b), "r"(c), "r"(x));
        asm("lop3.b32 %0, %1, %2, %3, 0x16;" : "=r"(z) : "r"(c), "r"(x), "r"(y));
        asm("lop3.b32 %0, %1, %2, %3, 0x7f;" : "=r"(w) : "r"(x), "r"(y), "r"(z));
        out[threadIdx.x] = x + 3 * y + 5 * z + 7 * w;
    }""",
    1, 32,
)  # fmt: skip
def arithmetic_that_a_kernel_repeats_keeps_its_constants(random):
    """Long meanings become functions of their own; what is a number in the instruction stays one in them."""

    def lop3(p, q, r, table):
        found = np.zeros_like(p)
        for index in range(8):
            if table >> index & 1:
                terms = (v if index >> shift & 1 else ~v for v, shift in ((p, 2), (q, 1), (r, 0)))
                found |= np.bitwise_and.reduce(list(terms))
        return found

    a = random.integers(0, 2**32, 32, dtype=u4)
    b = a * u4(3)
    c = b ^ u4(77)
    x = lop3(a, b, c, 0x96)
    y = lop3(b, c, x, 0xE8)
    z = lop3(c, x, y, 0x16)
    return (a, a * 0), {1: x + u4(3) * y + u4(5) * z + u4(7) * lop3(x, y, z, 0x7F)}


@c(
    """
    extern "C" __global__ void k(const float* in, float* out, int n) {
        int t = threadIdx.x;
        float x = in[t], y = in[t + 32];
        #pragma unroll 1
        for (int i = 0; i < (t & 3) + n; i++)
            asm volatile("{.reg .pred p, q; setp.ge.f32 p|q, %1, %0; bra over; over: setp.ne.u32 q, %2, 0;"
                         "@q copysign.f32 %0, %0, %1;}" : "+f"(x) : "f"(y), "r"(t & 1));
        out[t] = x;
    }""",
    1, 32,
)  # fmt: skip
def signs_copied_in_a_loop_under_a_guard(random):
    """LLVM makes a wrong ternary operation of its own copysign here; random programs found it."""
    values = np.random.default_rng(4).normal(size=64).astype(f4)
    x, y, odd = values[:32], values[32:], np.arange(32) % 2 == 1
    return (values, np.zeros(32, f4), i4(1)), {1: np.where(odd, np.copysign(y, x), x)}


@c(
    """
    extern "C" __global__ void k(const unsigned* a, const unsigned* b, unsigned* out, unsigned long long* wide) {
        int i = threadIdx.x; unsigned x = a[i], y = b[i]; unsigned long long w = (unsigned long long)x << 32 | y;
        out[i] = __mulhi((int)x, (int)y); out[32 + i] = x << (i & 31) | x >> ((32 - i) & 31); out[64 + i] = __dp4a((int)x, (int)y, 7);
        wide[i] = w * w + y;
    }""",
    1, 32,
)  # fmt: skip
def high_words_rotations_and_products_of_bytes(random):
    a, b = random.integers(0, 2**32, (2, 32), dtype=u4)
    i, w = np.arange(32, dtype=u4), a.astype(u8) << u8(32) | b
    parts = [v.view(np.int8).reshape(32, 4).astype(int) for v in (a, b)]
    high = (a.view(i4).astype(i8) * b.view(i4) >> 32).astype(i4).view(u4)
    rows = [high, a << i | a >> (32 - i & 31), (7 + (parts[0] * parts[1]).sum(1)).astype(i4).view(u4)]
    return (a, b, np.zeros((3, 32), u4), w * 0), {2: np.stack(rows), 3: w * w + b}


@c(
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


@c(
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


@c(
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
    4, 77, rtol=3e-5, atol=2e-6, long=True,
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


@c(
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
    3, 60, rtol=1e-13, atol=1e-15, long=True,
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


@c(
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


@c(
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


@c(
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


@c(
    """
    extern "C" __global__ void k(const unsigned* a, const unsigned* b, unsigned* out) {
        int i = threadIdx.x; unsigned x = a[i], y = b[i]; unsigned* o = out + i * 5;
        asm("mul24.hi.u32 %0, %1, %2;" : "=r"(o[0]) : "r"(x), "r"(y));
        asm("mul24.hi.s32 %0, %1, %2;" : "=r"(o[1]) : "r"(x), "r"(y));
        asm("mad24.lo.s32 %0, %1, %2, %1;" : "=r"(o[2]) : "r"(x), "r"(y));
        asm("mad24.hi.u32 %0, %1, %2, %2;" : "=r"(o[3]) : "r"(x), "r"(y));
        asm("mad24.hi.sat.s32 %0, %1, %2, %1;" : "=r"(o[4]) : "r"(x), "r"(y));
    }""",
    1, 96,
)  # fmt: skip
def products_of_24_bits(random):
    signed = lambda v, bits: (v & (1 << bits) - 1) - ((v >> bits - 1 & 1) << bits)
    a, b = random.integers(0, 2**32, (2, 96)).astype(u4)
    rows = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        positive, product = (x & 0xFFFFFF) * (y & 0xFFFFFF), signed(x, 24) * signed(y, 24)
        total = signed(product >> 16, 32) + signed(x, 32)
        sums = product + x, (positive >> 16) + y, min(max(total, -(2**31)), 2**31 - 1)
        rows.append([v & 0xFFFFFFFF for v in (positive >> 16, product >> 16, *sums)])
    return (a, b, np.zeros((96, 5), u4)), {2: np.array(rows, u4)}
