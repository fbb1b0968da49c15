"""Arithmetic of every width as the compiler writes it, against NumPy, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

INTEGERS = {
    "signed char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16,
    "int": np.int32, "unsigned": np.uint32, "long long": np.int64, "unsigned long long": np.uint64,
}  # fmt: skip


def every_bit(dtype, n=96, seed=1) -> np.ndarray:
    raw = np.random.default_rng(seed).integers(0, 256, n * np.dtype(dtype).itemsize, dtype=np.uint8)
    data = raw.view(dtype).copy()
    info = np.iinfo(dtype)
    data[:8] = np.array([0, 1, 2, 3, info.max, info.min, info.max - 1, info.min + 1], dtype)
    return data


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_of_every_width(engine, name):
    dtype = INTEGERS[name]
    bits = np.dtype(dtype).itemsize * 8
    kernel = engine.c(f"""
        typedef {name} T;
        extern "C" __global__ void all(const T* a, const T* b, T* out, int n) {{
            int i = threadIdx.x;
            T x = a[i], y = b[i], d = y == 0 ? (T)1 : y;
            out[i] = x + y; out[n + i] = x - y; out[2 * n + i] = x * y;
            out[3 * n + i] = x / (T)(d | 1); out[4 * n + i] = x % (T)(d | 1);
            out[5 * n + i] = x & y; out[6 * n + i] = x | ~y; out[7 * n + i] = x ^ y;
            out[8 * n + i] = x << (y & {bits - 1}); out[9 * n + i] = x >> (y & {bits - 1});
            out[10 * n + i] = x < y ? x : y; out[11 * n + i] = -x; out[12 * n + i] = x == y || x > 100;
        }}""")
    a, b = every_bit(dtype, seed=1), np.roll(every_bit(dtype, seed=2), 3)
    out = np.zeros((13, 96), dtype)
    kernel(1, 96, a, b, out, 96)
    odd = np.where(b == 0, dtype(1), b) | dtype(1)
    small = b & dtype(bits - 1)
    with np.errstate(all="ignore"):
        if np.issubdtype(dtype, np.signedinteger):
            wide = [int(x) for x in a], [int(y) for y in odd]
            quotient = np.array(
                [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(*wide, strict=True)], object
            )
            quotient = np.array([(q + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for q in quotient], dtype)
        else:
            quotient = a // odd
        expected = [
            a + b, a - b, a * b, quotient, a - quotient * odd, a & b, a | ~b, a ^ b, a << small, a >> small,
            np.minimum(a, b), dtype(0) - a, (a == b) | (a > 100),
        ]  # fmt: skip
    for index, row in enumerate(expected):
        np.testing.assert_array_equal(out[index], row.astype(dtype), err_msg=f"operation {index}")


def test_64_bit_division_by_values_and_constants(engine):
    kernel = engine.c("""
        extern "C" __global__ void divide(const long long* a, const long long* b, long long* q, unsigned long long* u) {
            int i = threadIdx.x;
            q[i] = a[i] / b[i]; q[64 + i] = a[i] % b[i]; q[128 + i] = a[i] / 7; q[192 + i] = a[i] % 1000000007ll;
            u[i] = (unsigned long long)a[i] / (unsigned long long)b[i];
            u[64 + i] = (unsigned long long)a[i] % 10;
        }""")
    a = every_bit(np.int64, 64, 3)
    b = np.where(every_bit(np.int64, 64, 4) >> 20 == 0, 3, every_bit(np.int64, 64, 4) >> (np.arange(64) % 60))
    b[b == 0] = 5
    q, u = np.zeros((4, 64), np.int64), np.zeros((2, 64), np.uint64)
    kernel(1, 64, a, b, q, u)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        for row, divisor in ((0, y), (2, 7)):
            quotient = abs(x) // abs(divisor) * (1 if (x < 0) == (divisor < 0) else -1)
            assert q[row, i] == quotient
            if row == 0:
                assert q[1, i] == x - quotient * y
        assert q[3, i] == abs(x) % 1000000007 * (1 if x > 0 else -1)
        assert u[0, i] == (x % 2**64) // (y % 2**64) and u[1, i] == (x % 2**64) % 10


def test_high_products_and_bit_tricks(engine):
    kernel = engine.c("""
        extern "C" __global__ void bits(const unsigned* a, const unsigned* b, unsigned* out, unsigned long long* wide) {
            int i = threadIdx.x;
            unsigned x = a[i], y = b[i];
            out[i] = __popc(x); out[32 + i] = __clz(x); out[64 + i] = __brev(x); out[96 + i] = __ffs(x);
            out[128 + i] = __umulhi(x, y); out[160 + i] = __mulhi((int)x, (int)y);
            out[192 + i] = __byte_perm(x, y, 0x3715); out[224 + i] = __funnelshift_l(x, y, i);
            out[256 + i] = x << (i & 31) | x >> ((32 - i) & 31); out[288 + i] = __sad((int)x, (int)y, 5);
            unsigned long long w = (unsigned long long)x << 32 | y;
            wide[i] = __popcll(w) | (unsigned long long)__clzll(w) << 8 | (unsigned long long)__ffsll(w) << 16;
            wide[32 + i] = __brevll(w); wide[64 + i] = __umul64hi(w, w ^ 0x123456789abcdefull);
            wide[96 + i] = w * w + y;
        }""")
    a, b = every_bit(np.uint32, 32, 5), every_bit(np.uint32, 32, 6)
    out, wide = np.zeros((10, 32), np.uint32), np.zeros((4, 32), np.uint64)
    kernel(1, 32, a, b, out, wide)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        signed = lambda v, n: v - 2**n if v >> (n - 1) else v
        source = [*x.to_bytes(4, "little"), *y.to_bytes(4, "little")]
        expected = [
            x.bit_count(), 32 - x.bit_length(), int(f"{x:032b}"[::-1], 2), (x & -x).bit_length(), x * y >> 32,
            signed(x, 32) * signed(y, 32) >> 32 & 0xFFFFFFFF,
            int.from_bytes(bytes(source[s] for s in (5, 1, 7, 3)), "little"),
            (y << 32 | x) << i >> 32 & 0xFFFFFFFF, (x << i | x >> (32 - i & 31)) & 0xFFFFFFFF,
            abs(signed(x, 32) - signed(y, 32)) + 5 & 0xFFFFFFFF,
        ]  # fmt: skip
        assert out[:, i].tolist() == expected
        w = x << 32 | y
        assert wide[0, i] == w.bit_count() | (64 - w.bit_length()) << 8 | (w & -w).bit_length() << 16
        assert wide[1, i] == int(f"{w:064b}"[::-1], 2)
        assert wide[2, i] == w * (w ^ 0x123456789ABCDEF) >> 64
        assert wide[3, i] == (w * w + y) % 2**64


FUNCTIONS = {
    "sqrt": (np.sqrt, 0, 50), "sin": (np.sin, -9, 9), "cos": (np.cos, -9, 9), "tan": (np.tan, -1, 1),
    "exp": (np.exp, -8, 8), "exp2": (np.exp2, -8, 8), "log": (np.log, 0.01, 50), "log2": (np.log2, 0.01, 50),
    "log10": (np.log10, 0.01, 50), "tanh": (np.tanh, -4, 4), "atan": (np.arctan, -9, 9), "asin": (np.arcsin, -1, 1),
    "sinh": (np.sinh, -4, 4), "cbrt": (np.cbrt, -9, 9), "floor": (np.floor, -9, 9), "ceil": (np.ceil, -9, 9),
    "trunc": (np.trunc, -9, 9), "rint": (np.rint, -9, 9), "fabs": (np.abs, -9, 9), "log1p": (np.log1p, -0.9, 9),
    "expm1": (np.expm1, -4, 4), "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 50),
}  # fmt: skip


@pytest.mark.parametrize(("type_name", "dtype", "precision"), [("float", "f4", 4e-6), ("double", "f8", 1e-13)])
def test_functions_of_floats(engine, type_name, dtype, precision):
    suffix = "f" if type_name == "float" else ""
    calls = "\n".join(f"out[{64 * k} + i] = {n}{suffix}(in[{64 * k} + i]);" for k, n in enumerate(FUNCTIONS))
    kernel = engine.c(f"""
        extern "C" __global__ void functions(const {type_name}* in, {type_name}* out) {{
            int i = threadIdx.x;
            {calls}
        }}""")
    data = np.array([np.linspace(low, high, 64) for _, low, high in FUNCTIONS.values()], dtype)
    out = np.zeros_like(data)
    kernel(1, 64, data, out)
    for row, result, (name, (function, _, _)) in zip(data, out, FUNCTIONS.items(), strict=True):
        expected = function(row.astype(np.float64))
        np.testing.assert_allclose(result, expected, rtol=precision, atol=precision, err_msg=name)


@pytest.mark.parametrize(("type_name", "dtype"), [("float", "f4"), ("double", "f8")])
def test_arithmetic_of_floats_is_ieee(engine, type_name, dtype):
    kernel = engine.c(f"""
        typedef {type_name} T;
        extern "C" __global__ void arithmetic(const T* a, const T* b, T* out) {{
            int i = threadIdx.x;
            T x = a[i], y = b[i];
            out[i] = x + y; out[64 + i] = x - y; out[128 + i] = x * y; out[192 + i] = x / y;
            out[256 + i] = fmin(x, y); out[320 + i] = fmax(x, y); out[384 + i] = copysign(x, y);
            out[448 + i] = x < y ? -x : fabs(y);
        }}""", options=("--fmad=false",))  # fmt: skip
    edge = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-310, 3e38, 1e-45, 0.1, -2.5, 7, 1e300, 3, 1e-30])
    with np.errstate(all="ignore"):
        a, b = np.repeat(edge, 4).astype(dtype), np.tile(edge, 4).astype(dtype)
        out = np.zeros((8, 64), dtype)
        kernel(1, 64, a, b, out)
        expected = [a + b, a - b, a * b, a / b, np.fmin(a, b), np.fmax(a, b), np.copysign(a, b),
                    np.where(a < b, -a, np.abs(b))]  # fmt: skip
    for index, row in enumerate(expected):
        np.testing.assert_array_equal(out[index], row, err_msg=f"operation {index}")


def test_conversions_between_widths(engine):
    kernel = engine.c("""
        extern "C" __global__ void convert(const double* in, signed char* c, short* s, int* i, long long* l,
                                          unsigned* u, float* f, int* r, float* back) {
            int t = threadIdx.x;
            double v = in[t];
            c[t] = (int)v; s[t] = (int)v; i[t] = v; l[t] = v; u[t] = v < 0 ? 0 : v; f[t] = v;
            r[t] = __double2int_rn(v); r[64 + t] = __float2int_ru((float)v); r[128 + t] = lrintf(v);
            back[t] = l[t]; back[64 + t] = u[t]; back[128 + t] = (float)c[t] + s[t];
        }""")
    data = np.linspace(-40000.7, 40000.3, 64)
    c, s, i = np.zeros(64, "i1"), np.zeros(64, "i2"), np.zeros(64, "i4")
    whole, u, f = np.zeros(64, "i8"), np.zeros(64, "u4"), np.zeros(64, "f4")
    r, back = np.zeros((3, 64), "i4"), np.zeros((3, 64), "f4")
    kernel(1, 64, data, c, s, i, whole, u, f, r, back)
    t = np.trunc(data).astype(np.int64)
    for got, expected in [
        (c, t.astype("i1")), (s, t.astype("i2")), (i, t), (whole, t), (u, np.maximum(t, 0)), (f, data.astype("f4")),
        (r[0], np.rint(data)), (r[1], np.ceil(data.astype("f4"))), (r[2], np.rint(data.astype("f4"))),
        (back[0], t), (back[1], np.maximum(t, 0)), (back[2], t.astype("i1") + t.astype("i2").astype(float)),
    ]:  # fmt: skip
        np.testing.assert_array_equal(got, expected.astype(got.dtype))


def half_rounded(x) -> np.ndarray:
    return np.asarray(x).astype(np.float16)


def test_half_precision(engine):
    kernel = engine.c("""
        #include <cuda_fp16.h>
        extern "C" __global__ void halves(const __half* a, const __half* b, __half* out, float* wide, __half2* pairs) {
            int i = threadIdx.x;
            __half x = a[i], y = b[i];
            out[i] = x + y; out[64 + i] = x * y; out[128 + i] = __hfma(x, y, x); out[192 + i] = x / y;
            out[256 + i] = __hmax(x, y); out[320 + i] = __hneg(x); out[384 + i] = __habs(x);
            out[448 + i] = __hlt(x, y) ? __float2half(__half2float(x) * 3) : hsqrt(__habs(y));
            wide[i] = __half2float(x) + (float)y;
            __half2 p = __halves2half2(x, y);
            pairs[i] = __hadd2(__hmul2(p, p), __float2half2_rn(1.0f));
            pairs[64 + i] = __hgt2(p, __lowhigh2highlow(p));
            out[512 + i] = __int2half_rn(i * 77); out[576 + i] = __double2half(0.1 * i);
            wide[64 + i] = __half2int_rn(x) + __half2ushort_rz(__habs(y));
        }""")
    random = np.random.default_rng(8)
    a, b = (random.normal(size=64) * 4).astype(np.float16), (random.normal(size=64) * 4).astype(np.float16)
    out, wide, pairs = np.zeros((10, 64), np.float16), np.zeros((2, 64), np.float32), np.zeros((2, 64, 2), np.float16)
    kernel(1, 64, a, b, out, wide, pairs)
    x, y = a.astype(np.float64), b.astype(np.float64)
    i = np.arange(64)
    expected = [x + y, x * y, x * y + x, x / y, np.maximum(x, y), -x, np.abs(x),
                np.where(x < y, x * 3, np.sqrt(np.abs(y))), i * 77, 0.1 * i]  # fmt: skip
    for index, row in enumerate(expected):
        # Quotients and roots go through approximations, as on a GPU; all else is rounded once.
        units = 1 if index in (3, 7) else 0
        distance = np.abs(out[index].view(np.int16).astype(int) - half_rounded(row).view(np.int16).astype(int))
        assert distance.max() <= units, f"operation {index}"
    np.testing.assert_array_equal(wide[0], a.astype("f4") + b.astype("f4"))
    np.testing.assert_array_equal(wide[1], np.rint(x) + np.trunc(np.abs(y)))
    both = np.stack([a, b], axis=1)
    np.testing.assert_array_equal(pairs[0], both * both + np.float16(1))
    np.testing.assert_array_equal(pairs[1], np.stack([x > y, y > x], axis=1).astype(np.float16))


def bfloat(x) -> np.ndarray:
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def test_bfloat16(engine):
    kernel = engine.c("""
        #include <cuda_bf16.h>
        extern "C" __global__ void brain(const __nv_bfloat16* a, const float* b, __nv_bfloat16* out, float* wide,
                                        __nv_bfloat162* pairs) {
            int i = threadIdx.x;
            __nv_bfloat16 x = a[i], y = __float2bfloat16(b[i]);
            out[i] = y; out[64 + i] = x + y; out[128 + i] = x * y; out[192 + i] = __hfma(x, y, x);
            out[256 + i] = __hmin(x, y);
            wide[i] = __bfloat162float(x) - (float)y;
            pairs[i] = __hfma2(__halves2bfloat162(x, y), __halves2bfloat162(y, x), __float2bfloat162_rn(2.0f));
        }""")
    random = np.random.default_rng(9)
    single = lambda raw: (raw.astype(np.uint32) << 16).view(np.float32)
    a, b = bfloat(random.normal(size=64)), (random.normal(size=64) * 3).astype(np.float32)
    out, wide, pairs = np.zeros((5, 64), np.uint16), np.zeros(64, np.float32), np.zeros((64, 2), np.uint16)
    kernel(1, 64, a, b, out, wide, pairs)
    x, y = single(a).astype(np.float64), single(bfloat(b)).astype(np.float64)
    for index, row in enumerate([y, x + y, x * y, x * y + x, np.minimum(x, y)]):
        np.testing.assert_array_equal(out[index], bfloat(row), err_msg=f"operation {index}")
    np.testing.assert_array_equal(wide, (x - y).astype(np.float32))
    np.testing.assert_array_equal(pairs, np.stack([bfloat(x * y + 2)] * 2, axis=1))


def test_rounding_as_asked(engine):
    """`__fadd_rd` and its like round the way their name says."""
    modes = ("rn", "rz", "rd", "ru")
    lines = "\n".join(
        f"""out[{64 * (4 * k + m)} + i] = __{f}_{mode}({args});"""
        for k, (f, args) in enumerate([("fadd", "x, y"), ("fmul", "x, y"), ("fdiv", "x, y"), ("fmaf", "x, y, x")])
        for m, mode in enumerate(modes)
    )
    kernel = engine.c(f"""
        extern "C" __global__ void rounding(const float* a, const float* b, float* out) {{
            int i = threadIdx.x;
            float x = a[i], y = b[i];
            {lines}
        }}""")
    random = np.random.default_rng(10)
    a, b = random.normal(size=64).astype("f4"), random.normal(size=64).astype("f4")
    out = np.zeros((4, 4, 64), "f4")
    kernel(1, 64, a, b, out)
    x, y = a.astype(np.longdouble), b.astype(np.longdouble)
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("needs a long double wider than a double, as x86-64 has, to know the exact results")
    for row, exact in zip(out, [x + y, x * y, x / y, x * y + x], strict=True):
        near = exact.astype("f4")
        down = np.where(near > exact, np.nextafter(near, np.float32(-np.inf)), near)
        up = np.where(near < exact, np.nextafter(near, np.float32(np.inf)), near)
        for got, expected in zip(row, [near, np.where(exact < 0, up, down), down, up], strict=True):
            np.testing.assert_array_equal(got, expected)


def test_arithmetic_that_a_kernel_repeats_keeps_its_constants(engine):
    """Long meanings become functions of their own; what is a number in the instruction stays one in them."""
    kernel = engine.c("""extern "C" __global__ void k(const unsigned* in, unsigned* out) {
        unsigned a = in[threadIdx.x], b = a * 3u, c = b ^ 77u, x, y, z, w;
        asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(x) : "r"(a), "r"(b), "r"(c));
        asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(y) : "r"(b), "r"(c), "r"(x));
        asm("lop3.b32 %0, %1, %2, %3, 0x16;" : "=r"(z) : "r"(c), "r"(x), "r"(y));
        asm("lop3.b32 %0, %1, %2, %3, 0x7f;" : "=r"(w) : "r"(x), "r"(y), "r"(z));
        out[threadIdx.x] = x + 3 * y + 5 * z + 7 * w;
    }""")
    a = np.random.default_rng(2).integers(0, 2**32, 32, dtype=np.uint32)
    out = np.zeros(32, np.uint32)
    kernel(1, 32, a, out)
    b = a * np.uint32(3)
    c = b ^ np.uint32(77)

    def lop3(p, q, r, table):
        found = np.zeros_like(p)
        for index in range(8):
            if table >> index & 1:
                terms = (v if index >> shift & 1 else ~v for v, shift in ((p, 2), (q, 1), (r, 0)))
                found |= np.bitwise_and.reduce(list(terms))
        return found

    x = lop3(a, b, c, 0x96)
    y = lop3(b, c, x, 0xE8)
    z = lop3(c, x, y, 0x16)
    w = lop3(x, y, z, 0x7F)
    np.testing.assert_array_equal(out, x + np.uint32(3) * y + np.uint32(5) * z + np.uint32(7) * w)


def test_signs_copied_in_a_loop_under_a_guard(engine):
    """LLVM makes a wrong ternary operation of its own copysign here; random programs found it."""
    kernel = engine.c("""extern "C" __global__ void k(const float* in, float* out, int n) {
        int t = threadIdx.x;
        float x = in[t], y = in[t + 32];
        #pragma unroll 1
        for (int i = 0; i < (t & 3) + n; i++)
            asm volatile("{.reg .pred p, q; setp.ge.f32 p|q, %1, %0; bra over; over: setp.ne.u32 q, %2, 0;"
                         "@q copysign.f32 %0, %0, %1;}" : "+f"(x) : "f"(y), "r"(t & 1));
        out[t] = x;
    }""")
    values = np.random.default_rng(4).normal(size=64).astype(np.float32)
    out = np.zeros(32, np.float32)
    kernel(1, 32, values, out, 1)
    x, y, odd = values[:32], values[32:], np.arange(32) % 2 == 1
    np.testing.assert_array_equal(out, np.where(odd, np.copysign(y, x), x))
