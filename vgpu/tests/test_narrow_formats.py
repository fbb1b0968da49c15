"""Conversions to FP8, FP6, FP4 and powers of two, with random bits too, and CUDA's headers for them.

Expected values come from the formats' definitions, in fractions, and from the manual's layout of random bits.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from vgpu.base.errors import Unsupported
from vgpu.lower import lower
from vgpu.ptx import PTXSyntaxError, parse
from vgpu.ptx.verify import verify
from vgpu.tests.test_formats import FORMATS, interesting, nearest_code, small_values

HALVES = {"f16": (5, 10, 0x7BFF, 0x7FFF), "bf16": (8, 7, 0x7F7F, 0x7FFF)}
RANDOM = np.random.default_rng(7)


def kernel(operation: str, inputs: str, output: str = "unsigned") -> str:
    """CUDA C whose thread i reads `inputs` 32-bit words of its own and writes one word."""
    return f"""extern "C" __global__ void k(const unsigned* in, {output}* out, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        const unsigned* x = in + {inputs} * i;
        unsigned d;
        {operation}
        out[i] = d;
    }}"""


def run(engine, operation: str, given: np.ndarray, arch: str = "compute_100a") -> np.ndarray:
    """One word for each row of `given` (uint32)."""
    rows = given.shape[0]
    out = np.zeros(rows, np.uint32)
    inputs = given.shape[1] if given.ndim > 1 else 1
    engine.c(kernel(operation, str(inputs)), arch=arch)(-(-rows // 256), 256, given.copy(), out, np.int32(rows))
    return out


def assembly(text: str, operands: int, byte: bool = False) -> str:
    """A statement of inline PTX; `byte`: the result is an 8-bit register."""
    given = ", ".join(f'"r"(x[{i}])' for i in range(operands))
    if byte:
        text = text.replace("%0", "t", 1)
        return (
            f'asm("{{.reg .b8 t; .reg .b16 h; {text} mov.b16 h, {{t, 0}}; cvt.u32.u16 %0, h;}}" : "=r"(d) : {given});'
        )
    return f'asm("{text}" : "=r"(d) : {given});'


# ---------------------------------------------------------------- stochastic rounding


def stochastic(name: str, number: float, bits: int, width: int, relu: bool, finite: bool = True) -> int:
    """A code rounded away from zero where the random bits, added below the last place, carry."""
    exponent, mantissa, largest, nan = (FORMATS | HALVES)[name]
    if math.isnan(number):
        return nan
    minus = math.copysign(1, number) < 0
    if minus and relu:
        return 0
    code = largest + (not finite)
    if math.isfinite(number):
        size, bias = abs(Fraction(number)), 2 ** (exponent - 1) - 1
        power = 1 - bias
        while size >= Fraction(2) ** (power + 1):
            power += 1
        code = min(math.floor(size * 2**mantissa / Fraction(2) ** power + Fraction(bits, 2**width)), 2**20)
        code = min(code + (power - 1 + bias << mantissa), largest + (not finite))
    return code | minus << (exponent + mantissa)


def shares(bits: int, name: str) -> list[int]:
    """The random bits of a, b, e and f."""
    four = [bits >> s & 0xFF for s in (24, 16, 8, 0)]
    high, low = (four[0] << 8 | four[2], four[1] << 8 | four[3]) if name == "e2m1" else (bits >> 16, bits & 0xFFFF)
    return [int(f"{high:016b}"[::-1], 2), high, int(f"{low:016b}"[::-1], 2), low]


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_four_floats_with_random_bits(engine, name, relu):
    numbers = np.concatenate([interesting(name), RANDOM.normal(0, 4, 1024).astype(np.float32)])
    numbers = RANDOM.permutation(numbers)[: len(numbers) // 4 * 4].reshape(-1, 4)
    bits = RANDOM.integers(0, 2**32, len(numbers), dtype=np.uint32)
    bits[:8] = [0, 0xFFFFFFFF, 1, 0x80000000, 0xFFFF, 0xFF00FF00, 0x8000, 0x00010000]
    words = f"cvt.rs{'.relu' * relu}.satfinite.{name}x4.f32"
    given = np.column_stack([numbers.view(np.uint32), bits])
    if name == "e2m1":
        text = f"{{.reg .b16 h; {words} h, {{%1, %2, %3, %4}}, %5; cvt.u32.u16 %0, h;}}"
    else:
        text = f"{words} %0, {{%1, %2, %3, %4}}, %5;"
    operands = ", ".join([*(f'"f"(__uint_as_float(x[{i}]))' for i in range(4)), '"r"(x[4])'])
    found = run(engine, f'asm("{text}" : "=r"(d) : {operands});', given)
    field = 4 if name == "e2m1" else 8
    for row, random, result in zip(numbers.tolist(), bits.tolist(), found.tolist(), strict=True):
        codes = [stochastic(name, x, r, 16, relu) for x, r in zip(row, shares(random, name), strict=True)]
        assert result == sum(code << field * (3 - i) for i, code in enumerate(codes)), (row, hex(random))


@pytest.mark.parametrize("words", ["", ".satfinite", ".relu.satfinite"])
@pytest.mark.parametrize("name", HALVES)
def test_two_floats_to_halves_with_random_bits(engine, name, words):
    numbers = RANDOM.integers(0, 2**32, 2048, dtype=np.uint32)
    numbers[:1024] = RANDOM.normal(0, 1e-5, 1024).astype(np.float32).view(np.uint32)
    numbers[:9] = np.array([0, -0.0, 65504, 65519.9, 65536, -1e30, 3.4e38, np.inf, np.nan], np.float32).view(np.uint32)
    given = np.column_stack([numbers.reshape(-1, 2), RANDOM.integers(0, 2**32, 1024, dtype=np.uint32)])
    operands = '"f"(__uint_as_float(x[0])), "f"(__uint_as_float(x[1])), "r"(x[2])'
    found = run(engine, f'asm("cvt.rs{words}.{name}x2.f32 %0, %1, %2, %3;" : "=r"(d) : {operands});', given)
    width = 13 if name == "f16" else 16
    for row, result in zip(given.tolist(), found.tolist(), strict=True):
        high, low = (float(x) for x in np.array(row[:2], np.uint32).view(np.float32))
        random = row[2] >> 16 & (1 << width) - 1, row[2] & (1 << width) - 1
        a, b = (
            stochastic(name, x, r, width, "relu" in words, "satfinite" in words)
            for x, r in zip((high, low), random, strict=True)
        )
        assert result == a << 16 | b, row


# ---------------------------------------------------------------- powers of two


def power(number: float, up: bool, finite: bool) -> int:
    """The exponent of a power of two next to a magnitude."""
    if math.isnan(number):
        return 255
    if math.isinf(number):
        return 254 if finite else 255
    size, code = abs(Fraction(number)), 0
    while code < 255 and Fraction(2) ** (code + 1 - 127) <= size:
        code += 1
    code += up and size > Fraction(2) ** (code - 127)
    return min(code, 254 if finite else 255)


@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("word", ["rz", "rp"])
def test_floats_to_powers_of_two(engine, word, finite):
    exact = np.ldexp(np.float32(1), np.arange(-149, 128)).astype(np.float32)
    some = np.concatenate([exact, np.nextafter(exact, np.float32(0)), np.nextafter(exact, np.float32(np.inf))])
    more = np.array([np.inf, np.nan, 3.4e38, 0.0, 1.5], np.float32)
    numbers = np.concatenate([some, -some, more, -more])
    numbers = numbers[: len(numbers) // 2 * 2].reshape(-1, 2)
    text = f"{{.reg .b16 h; cvt.{word}{'.satfinite' * finite}.ue8m0x2.f32 h, %1, %2; cvt.u32.u16 %0, h;}}"
    operation = f'asm("{text}" : "=r"(d) : "f"(__uint_as_float(x[0])), "f"(__uint_as_float(x[1])));'
    found = run(engine, operation, numbers.view(np.uint32))
    up = word == "rp"
    expected = [power(a, up, finite) << 8 | power(b, up, finite) for a, b in numbers.tolist()]
    assert found.tolist() == expected


@pytest.mark.parametrize("words", ["rz", "rz.satfinite", "rp", "rp.satfinite"])
def test_all_brain_floats_to_powers_of_two(engine, words):
    halves = np.arange(65536, dtype=np.uint32)
    given = halves | halves[::-1] << 16
    text = f"{{.reg .b16 h; cvt.{words}.ue8m0x2.bf16x2 h, %1; cvt.u32.u16 %0, h;}}"
    found = run(engine, assembly(text, 1), given)
    # As CUDA's header has it in integers.
    codes, mantissa, size = halves >> 7 & 255, halves & 127, halves & 0x7FFF
    if "rp" in words:
        codes = codes + ((mantissa > 0) & (size > 0x40) & (size < 0x7F80))
    if "satfinite" in words:
        codes = np.where((codes == 255) & (size <= 0x7F80), 254, codes)
    assert (found == (codes[::-1] << 8 | codes)).all()


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_all_halves_to_small_floats(engine, name, relu):
    """Every f16 and every bf16."""
    halves = np.arange(65536, dtype=np.uint32)
    given = halves[::2] | halves[1::2] << 16
    values = [float(v) for v in small_values(*FORMATS[name][:3])]
    middles = np.array([(a + b) / 2 for a, b in pairwise(values)])
    for kind in HALVES:
        text = f"cvt.rn.satfinite{'.relu' * relu}.{name}x2.{kind}x2 "
        if name == "e2m1":
            operation = assembly(text + "%0, %1;", 1, byte=True)
        else:
            operation = assembly(f"{{.reg .b16 h; {text} h, %1; cvt.u32.u16 %0, h;}}", 1)
        found = run(engine, operation, given)
        numbers = (halves << 16).view(np.float32) if kind == "bf16" else halves.astype(np.uint16).view(np.float16)
        with np.errstate(invalid="ignore"):
            numbers = numbers.astype(np.float64)
        size = np.abs(numbers)
        code = np.searchsorted(middles, size, "left")
        code += (code % 2 == 1) & np.isin(size, middles)  # halfway: the even one
        sign = FORMATS[name][0] + FORMATS[name][1]
        code = np.where(np.signbit(numbers), 0 if relu else code | 1 << sign, code)
        code = np.where(np.isnan(numbers), FORMATS[name][3], code)
        assert (found == (code[::2] | code[1::2] << (4 if name == "e2m1" else 8))).all(), kind


# ---------------------------------------------------------------- CUDA's headers

HEADERS = """
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
extern "C" __global__ void k(const float* in, unsigned* out, float* back) {
    int i = threadIdx.x;
    float x = in[i];
    __nv_fp8_e4m3 a(x); __nv_fp8_e5m2 b(x); __nv_fp6_e2m3 c(x); __nv_fp6_e3m2 d(x); __nv_fp4_e2m1 e(x);
    __nv_fp8_e8m0 p; p.__x = __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf);
    out[8 * i] = a.__x; out[8 * i + 1] = b.__x; out[8 * i + 2] = c.__x; out[8 * i + 3] = d.__x; out[8 * i + 4] = e.__x;
    out[8 * i + 5] = p.__x;
    __nv_fp4x2_e2m1 two(make_float2(x, -x));
    __nv_fp6x4_e2m3 four(make_float4(x, -x, 1.0f, x));
    out[8 * i + 6] = two.__x; out[8 * i + 7] = four.__x;
    back[6 * i] = float(a); back[6 * i + 1] = float(b); back[6 * i + 2] = float(c); back[6 * i + 3] = float(d);
    back[6 * i + 4] = float(e);
    __half2 pair(__nv_cvt_fp4x2_to_halfraw2(two.__x, __NV_E2M1));
    back[6 * i + 5] = __half2float(pair.y);
}"""


@pytest.mark.parametrize("arch", ["compute_80", "compute_90", "compute_100a", "compute_120a"])
def test_types_of_the_headers(engine, arch):
    """In software on the older GPUs, by instructions on the newer ones: the same codes."""
    given = np.concatenate([interesting(name)[:160] for name in ("e4m3", "e5m2", "e2m1", "e2m3", "e3m2")])
    given = given[: len(given) // 32 * 32][:800]
    out, back = np.zeros((len(given), 8), np.uint32), np.zeros((len(given), 6), np.float32)
    engine.c(HEADERS, arch=arch)(1, len(given), given, out, back)
    numbers = given.tolist()
    for column, name in enumerate(("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")):
        codes = [nearest_code(name, x, False) for x in numbers]
        assert out[:, column].tolist() == codes, name
        values = [float(v) for v in small_values(*FORMATS[name][:3])]
        sign = FORMATS[name][0] + FORMATS[name][1]
        wanted = [
            math.copysign(dict(enumerate(values)).get(c % (1 << sign), math.nan), -(c >> sign) or 1) for c in codes
        ]
        np.testing.assert_array_equal(back[:, column], np.array(wanted, np.float32), err_msg=name)
    assert out[:, 5].tolist() == [power(x, True, True) for x in numbers]
    e2m1 = [(nearest_code("e2m1", x, False), nearest_code("e2m1", -x, False)) for x in numbers]
    assert out[:, 6].tolist() == [low | high << 4 for low, high in e2m1]
    assert back[:, 5].tolist() == [(-1) ** (c >> 3) * float(small_values(2, 1, 7)[c & 7]) for _, c in e2m1]
    e2m3 = [nearest_code("e2m3", x, False) | nearest_code("e2m3", -x, False) << 8 for x in numbers]
    assert out[:, 7].tolist() == [two | 8 << 16 | (two & 0xFF) << 24 for two in e2m3]


# ---------------------------------------------------------------- what is refused

TEXT = """.version 9.0
.target {target}
.address_size 64
.visible .entry k() {{
.reg .b8 %b<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<2>;
{body}
ret;
}}"""


def checked(target: str, body: str) -> None:
    """What a launch does before it compiles."""
    module = parse(TEXT.format(target=target, body=body))
    verify(module, module.kernels["k"])
    lower(module, module.kernels["k"], {}, "k", False)


@pytest.mark.parametrize(
    "body",
    [
        "cvt.rs.e4m3x4.f32 %r0, {%f0, %f1, %f2, %f3}, %r1;",  # .satfinite is missing
        "cvt.rs.satfinite.e4m3x4.f32 %r0, {%f0, %f1, %f2}, %r1;",
        "cvt.rs.satfinite.e4m3x4.f32 %r0, {%f0, %f1, %f2, %f3};",
        "cvt.rs.satfinite.e4m3x4.f32 %h0, {%f0, %f1, %f2, %f3}, %r1;",
        "cvt.rs.satfinite.e2m1x4.f32 %r0, {%f0, %f1, %f2, %f3}, %r1;",
        "cvt.rn.satfinite.e4m3x4.f32 %r0, {%f0, %f1, %f2, %f3}, %r1;",
        "cvt.rs.f16.f32 %h0, %f0, %r1;",
        "cvt.rs.bf16x2.f32 %r0, %f0, %f1, %h1;",
        "cvt.rp.f16x2.f32 %r0, %f0, %f1;",
        "cvt.rn.ue8m0x2.f32 %h0, %f0, %f1;",
        "cvt.rz.relu.ue8m0x2.bf16x2 %h0, %r0;",
        "cvt.rz.ue8m0x2.f16x2 %h0, %r0;",
        "cvt.rz.satfinite.e4m3x2.f32 %h0, %f0, %f1;",
        "cvt.rn.satfinite.satfinite.e4m3x2.f32 %h0, %f0, %f1;",
        "cvt.rn.satfinite.e4m3x2.f16 %h0, %h1;",
        "cvt.rn.f16x2.e4m3 %r0, %h1;",
        "cvt.rn.bf16x2.e4m3x2 %r0, %h0;",
        "cvt.rn.f16x2.ue8m0x2 %r0, %h0;",
        "cvt.rn.satfinite.e2m1x2.f32 %h0, %f0, %f1;",
        "cvt.rn.satfinite.e4m3x2.f32 %r0, %f0, %f1;",
        "cvt.rn.satfinite.s2f6x2.f32 %h0, %f0, %f1;",
    ],
)
def test_forms_that_the_manual_has_not_are_refused(body):
    with pytest.raises((PTXSyntaxError, Unsupported)):
        checked("sm_100a", body)


@pytest.mark.parametrize(
    ("target", "body", "known"),
    [
        ("sm_100a", "cvt.rs.f16x2.f32 %r0, %f0, %f1, %r1;", True),
        ("sm_103a", "cvt.rs.f16x2.f32 %r0, %f0, %f1, %r1;", True),
        ("sm_100", "cvt.rs.f16x2.f32 %r0, %f0, %f1, %r1;", False),
        ("sm_120a", "cvt.rs.f16x2.f32 %r0, %f0, %f1, %r1;", False),
        ("sm_120a", "cvt.rz.ue8m0x2.f32 %h0, %f0, %f1;", True),
        ("sm_90a", "cvt.rz.ue8m0x2.f32 %h0, %f0, %f1;", False),
        ("sm_90", "cvt.rn.satfinite.e4m3x2.bf16x2 %h0, %r1;", False),
        ("sm_90", "cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1;", True),
    ],
)
def test_targets(target, body, known):
    with nullcontext() if known else pytest.raises(PTXSyntaxError, match=r"needs \.target sm_100a"):
        checked(target, body)
