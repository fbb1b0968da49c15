"""Number formats: small floats, tf32, packed pairs, dot products, doubles in all rounding modes, against plain numbers.

Every function of CUDA's headers for half, bfloat16, FP8, FP6, FP4 and integer intrinsics has to translate.
"""

from __future__ import annotations

import os
import random
import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from vgpu import ptx
from vgpu.base.errors import CompileError, Unsupported
from vgpu.compile import cuda_c_to_ptx
from vgpu.compile.cuda_c import include_folders
from vgpu.lower import lower
from vgpu.tests.test_isa_meaning import meaning
from vgpu.tests.test_tensor import run_ptx

RANDOM = random.Random(5)

# ---------------------------------------------------------------- 8, 6 and 4 bits


def small_values(exponent: int, mantissa: int, largest: int) -> list[Fraction]:
    """The values of the codes without sign, by the definition."""
    bias = 2 ** (exponent - 1) - 1
    found = []
    for code in range(largest + 1):
        e, f = code >> mantissa, code & ((1 << mantissa) - 1)
        found.append(Fraction(f + (1 << mantissa if e else 0), 1 << mantissa) * Fraction(2) ** (max(e, 1) - bias))
    return found


FORMATS = {  # name -> bits of exponent, of mantissa, largest code, code of NaN
    "e4m3": (4, 3, 0x7E, 0x7F), "e5m2": (5, 2, 0x7B, 0x7F), "e2m1": (2, 1, 7, 7), "e2m3": (2, 3, 31, 31),
    "e3m2": (3, 2, 31, 31),
}  # fmt: skip


def nearest_code(name: str, number: float, relu: bool) -> int:
    exponent, mantissa, largest, nan = FORMATS[name]
    if number != number:
        return nan
    values = small_values(exponent, mantissa, largest)
    size = Fraction(abs(number)) if abs(number) != float("inf") else values[-1]
    code = min(range(len(values)), key=lambda c: (abs(values[c] - size), c % 2))
    minus = np.signbit(number)
    return 0 if minus and relu else code | int(minus) << (exponent + mantissa)


def interesting(name: str) -> np.ndarray:
    """All values, what lies between two, neighbours of both, and numbers beyond."""
    values = [float(v) for v in small_values(*FORMATS[name][:3])]
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    some = np.array([*values, *middles, values[-1] * 1.02, values[-1] * 1.5, 1e30, np.inf, 1e-30, 3e-42], np.float32)
    some = np.concatenate([some, np.nextafter(some, np.float32(0)), np.nextafter(some, np.float32(np.inf))])
    some = np.concatenate([some, -some, [np.float32(np.nan)]])
    return np.resize(some, -(-len(some) // 64) * 64).astype(np.float32)


def convert(engine, instruction: str, source: str, target: str, given: np.ndarray, out: np.ndarray, pair: bool) -> None:
    """Run `cvt`: `given` holds one register a thread, or two where a pair is made of two floats."""
    size, out_size = given.dtype.itemsize, out.dtype.itemsize
    threads = len(out)
    load = {1: "u8", 2: "b16", 4: "b32"}[size]
    registers = {1: "b16", 2: "b16", 4: "b32" if source != "f32" else "f32"}
    body = [f"ld.global.{load} %a, [%p];"]
    operands = "%a"
    if pair:
        body = [f"ld.global.{load} %a, [%p+4];", f"ld.global.{load} %b, [%p];"]
        operands = "%a, %b"
    narrow = "{.reg .b8 %n; %s %n, %s; cvt.u16.u8 %d, %n;}"
    wide8 = ["{.reg .b8 %n, %z; mov.b16 {%n, %z}, %a;", f"{instruction} %d, %n;", "}"]
    if target == "b8":
        body.append(narrow.replace("%s", instruction, 1).replace("%s", operands, 1))
    elif source == "b8":
        body += wide8
    else:
        body.append(f"{instruction} %d, {operands};")
    text = "\n".join([
        ".version 8.7", ".target sm_100a", ".address_size 64", ".visible .entry k(.param .u64 x, .param .u64 y)", "{",
        f".reg .b64 %p, %q, %i; .reg .b32 %t; .reg .{registers[size]} %a, %b; "
        f".reg .{'b32' if out_size == 4 else 'b16'} %d;",
        "ld.param.u64 %p, [x]; ld.param.u64 %q, [y]; mov.u32 %t, %tid.x; cvt.u64.u32 %i, %t;",
        f"mad.lo.u64 %p, %i, {size * (2 if pair else 1)}, %p; mad.lo.u64 %q, %i, {out_size}, %q;", *body,
        f"st.global.{ {1: 'u8', 2: 'b16', 4: 'b32'}[out_size] } [%q], %d;", "ret;", "}",
    ])  # fmt: skip
    for start in range(0, threads, 512):
        part = slice(start, start + 512)
        here = given[2 * start : 2 * start + 1024] if pair else given[part]
        result = out[part].copy()
        run_ptx(engine.name, text, [here.copy(), result], len(result))
        out[part] = result


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_floats_to_small_ones(engine, name, relu):
    given = interesting(name)
    four = name == "e2m1"
    out = np.zeros(len(given) // 2, np.uint8 if four else np.uint16)
    words = "cvt.rn.satfinite" + (".relu" if relu else "")
    convert(engine, f"{words}.{name}x2.f32", "f32", "b8" if four else "b16", given, out, True)
    codes = [nearest_code(name, x, relu) for x in given.tolist()]
    field = 4 if four else 8
    assert out.tolist() == [low | high << field for low, high in zip(codes[::2], codes[1::2], strict=True)]


@pytest.mark.parametrize("name", FORMATS)
def test_halves_to_small_ones(engine, name):
    with np.errstate(over="ignore"):
        given = interesting(name).astype(np.float16)
    four = name == "e2m1"
    out = np.zeros(len(given) // 2, np.uint8 if four else np.uint16)
    instruction = f"cvt.rn.satfinite.{name}x2.f16x2"
    convert(engine, instruction, "f16x2", "b8" if four else "b16", given.view(np.uint32), out, False)
    codes = [nearest_code(name, x, False) for x in given.astype(np.float32).tolist()]
    assert out.tolist() == [a | b << (4 if four else 8) for a, b in zip(codes[::2], codes[1::2], strict=True)]


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_small_floats_to_halves(engine, name, relu):
    exponent, mantissa, largest, _ = FORMATS[name]
    sign, four = exponent + mantissa, name == "e2m1"
    codes = np.arange(2 << sign)
    values = [float(v) for v in small_values(exponent, mantissa, largest)]
    beyond = {"e4m3": [np.nan], "e5m2": [np.inf, np.nan, np.nan, np.nan]}.get(name, [])
    expected = np.array([*values, *beyond, *(-v for v in (*values, *beyond))])
    if relu:
        expected = np.where(expected <= 0, 0, expected)
    given = (codes | codes[::-1] << 4).astype(np.uint8) if four else (codes | codes[::-1] << 8).astype(np.uint16)
    out = np.zeros(len(codes), np.uint32)
    words = "cvt.rn" + (".relu" if relu else "")
    convert(engine, f"{words}.f16x2.{name}x2", "b8" if four else "b16", "b32", given, out, False)
    low, high = out.view(np.float16)[::2].astype(float), out.view(np.float16)[1::2].astype(float)
    np.testing.assert_array_equal(low, expected)
    np.testing.assert_array_equal(high, expected[::-1])
    assert (np.signbit(low) == np.signbit(expected))[~np.isnan(low)].all()


def test_powers_of_two(engine):
    given = np.arange(256, dtype=np.uint16) * 257
    out = np.zeros(256, np.uint32)
    convert(engine, "cvt.rn.bf16x2.ue8m0x2", "b16", "b32", given, out, False)
    values = (out << 16).view(np.float32)
    assert (values[:255] == np.ldexp(1.0, np.arange(255) - 127)).all() and np.isnan(values[255])
    assert (out >> 16 == out & 0xFFFF).all()


FP8 = """
    #include <cuda_fp8.h>
    extern "C" __global__ void k(const float* in, unsigned char* out, float* back, unsigned* four) {
        int i = threadIdx.x;
        __nv_fp8_e4m3 a(in[i]); __nv_fp8_e5m2 b(in[i]);
        out[2 * i] = a.__x; out[2 * i + 1] = b.__x;
        back[2 * i] = float(a); back[2 * i + 1] = float(b);
        __nv_fp8x4_e4m3 quad(make_float4(in[i], 1.0f, -2.0f, 0.5f));
        four[i] = quad.__x;
    }"""


@pytest.mark.parametrize("arch", ["compute_75", "compute_80", "compute_90"])
def test_fp8_types_agree_on_old_and_new_targets(engine, arch):
    """Older targets convert in software, newer ones by one instruction."""
    given = interesting("e4m3")[:512]
    out, back, four = np.zeros((512, 2), np.uint8), np.zeros((512, 2), np.float32), np.zeros(512, np.uint32)
    engine.c(FP8, arch=arch)(1, 512, given, out, back, four)
    for column, name in enumerate(("e4m3", "e5m2")):
        assert out[:, column].tolist() == [nearest_code(name, x, False) for x in given.tolist()]
    exact = np.where(np.isnan(given), 0, given).astype(float)
    assert (np.abs(back[:, 0] - exact) <= np.maximum(np.abs(exact) / 16, 2.0**-10))[np.abs(exact) < 448].all()
    assert (four == (np.uint32(0x30C03800) | out[:, 0].astype(np.uint32))).all()


# ---------------------------------------------------------------- tf32 and halves


@pytest.mark.parametrize("word", ["rna", "rn", "rz"])
def test_tf32(word):
    patterns = [0, 1, 0x1000, 0x3000, 0x0FFF, 0x1FFF, 0x3F800FFF, 0x3F801000, 0x3F803000, 0xBF801000, 0x7F7FFFFF,
                0x7F800000, 0xFF800000, *(RANDOM.getrandbits(31) % 0x7F800000 for _ in range(40))]  # fmt: skip

    def rounded(bits: int) -> int:
        magnitude, rest = bits & 0x7FFFE000, bits & 0x1FFF
        half = rest > 0x1000 or (rest == 0x1000 and (word == "rna" or magnitude >> 13 & 1))
        return bits & 0x80000000 | magnitude + (0x2000 if half and word != "rz" else 0)

    expected = [b if b & 0x7FFFFFFF == 0x7F800000 else rounded(b) for b in patterns]
    assert meaning(f"cvt.{word}.tf32.f32", patterns)[0] == expected


def test_saturated_halves_stay_finite():
    huge = np.array([1e6, -1e6, np.inf, 65519.0, 1.0], np.float32).view(np.uint32).tolist()
    assert meaning("cvt.rn.satfinite.f16.f32", huge)[0] == [0x7BFF, 0xFBFF, 0x7BFF, 0x7BFF, 0x3C00]
    assert meaning("cvt.rn.satfinite.bf16.f32", huge)[0] == [0x4974, 0xC974, 0x7F7F, 0x4780, 0x3F80]


# ---------------------------------------------------------------- parts of a word


def split(word: int, bits: int, signed: bool) -> list[int]:
    parts = [word >> i & ((1 << bits) - 1) for i in range(0, 32, bits)]
    return [p - (1 << bits) if signed and p >> (bits - 1) else p for p in parts]


WORDS = [0, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F, 0x80007FFF, 0x01FF01FF] + [RANDOM.getrandbits(32) for _ in range(20)]
TRIPLES = [(RANDOM.choice(WORDS), RANDOM.choice(WORDS), RANDOM.choice(WORDS)) for _ in range(200)]
KINDS = [(a, b) for a in ("u32", "s32") for b in ("u32", "s32")]


@pytest.mark.parametrize(("a", "b"), KINDS)
def test_dot_products(a, b):
    x, y, z = zip(*TRIPLES, strict=True)
    signed_a, signed_b = a == "s32", b == "s32"
    four = [sum(p * q for p, q in zip(split(i, 8, signed_a), split(j, 8, signed_b), strict=True)) + k
            for i, j, k in TRIPLES]  # fmt: skip
    assert meaning(f"dp4a.{a}.{b}", x, y, z)[0] == [v & 0xFFFFFFFF for v in four]
    for half, part in (("lo", slice(0, 2)), ("hi", slice(2, 4))):
        two = [sum(p * q for p, q in zip(split(i, 16, signed_a), split(j, 8, signed_b)[part], strict=True)) + k
               for i, j, k in TRIPLES]  # fmt: skip
        assert meaning(f"dp2a.{half}.{a}.{b}", x, y, z)[0] == [v & 0xFFFFFFFF for v in two]


OPERATIONS = {
    "vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vabsdiff": lambda a, b: abs(a - b), "vmin": min,
    "vmax": max,
}  # fmt: skip


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", OPERATIONS)
def test_simd_video(name, count):
    x, y, z = zip(*TRIPLES, strict=True)
    bits = 32 // count
    ones = (1 << bits) - 1
    for d in ("u32", "s32"):
        low = -(1 << bits - 1) if d == "s32" else 0
        for a, b in KINDS:
            parts = [[OPERATIONS[name](p, q) for p, q in zip(split(i, bits, a == "s32"), split(j, bits, b == "s32"),
                                                             strict=True)] for i, j, _ in TRIPLES]  # fmt: skip
            join = lambda values: sum((v & ones) << bits * i for i, v in enumerate(values))
            text = f"{name}{count}.{d}.{a}.{b}"
            assert meaning(text, x, y, z)[0] == [join(p) for p in parts]
            clamped = [[min(max(v, low), low + ones) for v in p] for p in parts]
            assert meaning(text + ".sat", x, y, z)[0] == [join(p) for p in clamped]
            if name == "vabsdiff":
                total = [sum(p) + k & 0xFFFFFFFF for p, k in zip(parts, z, strict=True)]
                assert meaning(text + ".add", x, y, z)[0] == total


def test_modes_of_prmt():
    a, b = 0x33221100, 0x77665544
    expected = {  # the manual's table, bytes of d from the highest to the lowest
        "f4e": ["3210", "4321", "5432", "6543"], "b4e": ["5670", "6701", "7012", "0123"],
        "rc8": ["0000", "1111", "2222", "3333"], "ecl": ["3210", "3211", "3222", "3333"],
        "ecr": ["0000", "1110", "2210", "3210"], "rc16": ["1010", "3232", "1010", "3232"],
    }  # fmt: skip
    for mode, rows in expected.items():
        wanted = [int("".join(2 * digit for digit in row), 16) for row in rows]
        assert meaning(f"prmt.b32.{mode}", [a] * 4, [b] * 4, [0, 1, 2, 3])[0] == wanted, mode


def test_szext():
    assert meaning("szext.clamp.s32", [0xFF, 0x7F, 0x80, 5], [8, 8, 8, 0])[0] == [0xFFFFFFFF, 0x7F, 0xFFFFFF80, 0]
    assert meaning("szext.clamp.u32", [0x1FF, 0xFFFFFFFF, 7], [8, 40, 33])[0] == [0xFF, 0xFFFFFFFF, 7]
    assert meaning("szext.wrap.u32", [0x1FF, 0xFFFFFFFF], [33, 36])[0] == [1, 15]


def test_fns():
    mask = 0b1011_0100
    n = lambda value: value & 0xFFFFFFFF
    cases = [(0, 1, 2), (0, 4, 7), (0, 5, n(-1)), (3, 1, 4), (2, 1, 2), (2, 2, 4), (7, -1, 7), (7, -2, 5), (6, -1, 5),
             (7, -5, n(-1)), (4, 0, 4), (3, 0, n(-1))]  # fmt: skip
    base, offset, expected = zip(*cases, strict=True)
    assert meaning("fns.b32", [mask] * len(cases), base, [n(o) for o in offset])[0] == list(expected)


def test_minimum_and_maximum_with_signs_and_three_operands():
    f = lambda *values: np.array(values, np.float32).view(np.uint32).tolist()
    assert meaning("min.xorsign.abs.f32", f(-3, 2, -1, 0), f(2, -5, -4, -1))[0] == f(-2, -2, 1, -0.0)
    assert meaning("max.xorsign.abs.f32", f(-3, 2), f(2, 5))[0] == f(-3, 5)
    assert meaning("min.f32", f(3, 1, 2), f(2, 2, 1), f(1, 3, 3))[0] == f(1, 1, 1)
    assert meaning("max.f32", f(3, np.nan, 2), f(2, 2, 1), f(1, 3, np.nan))[0] == f(3, 3, 2)
    assert meaning("max.relu.s32", [0xFFFFFFFF, 5], [0xFFFFFFF0, 3])[0] == [0, 5]
    assert meaning("add.s16x2", [0x7FFF0001], [0x00010001])[0] == [0x80000002]
    assert meaning("min.s16x2", [0x80000001], [0x7FFFFFFF])[0] == [0x8000FFFF]
    pair = lambda a, b: int(np.array([a, b], np.float32).view(np.uint64)[0])
    assert meaning("fma.rn.f32x2", [pair(2, 3)], [pair(5, -1)], [pair(0.5, 1)])[0] == [pair(10.5, -2)]


# ---------------------------------------------------------------- doubles in all rounding modes

DOUBLES = [
    0.0,
    -0.0,
    1.0,
    3.0,
    -7.0,
    0.1,
    1e308,
    -1e308,
    5e-324,
    2.2e-308,
    1e-160,
    1e160,
    1.5,
    2.0**-537,
    np.inf,
    np.nan,
]


def directed(word: str, exact: Fraction) -> float:
    """The double next to an exact number in a direction."""
    try:
        near = float(exact)
    except OverflowError:
        near = np.copysign(np.inf, float(exact > 0) - 0.5)
    if word == "rz":
        word = "rm" if exact > 0 else "rp"
    beyond = lambda x: (x == np.inf or Fraction(x) > exact) if x != -np.inf else False
    below = lambda x: (x == -np.inf or Fraction(x) < exact) if x != np.inf else False
    if word == "rm" and beyond(near):
        return np.nextafter(near, -np.inf)
    return np.nextafter(near, np.inf) if word == "rp" and below(near) else near


@pytest.mark.parametrize("word", ["rz", "rm", "rp"])
def test_directed_doubles(engine, word):
    letter = {"rz": "z", "rm": "d", "rp": "u"}[word]
    kernel = engine.c(f"""
        extern "C" __global__ void k(const double* a, const double* b, const double* c, double* out, int n) {{
            int i = threadIdx.x;
            out[i] = __fma_r{letter}(a[i], b[i], c[i]);
            out[n + i] = __ddiv_r{letter}(a[i], b[i]);
            out[2 * n + i] = __drcp_r{letter}(a[i]);
            out[3 * n + i] = __dsqrt_r{letter}(a[i]);
        }}""")
    generator = np.random.default_rng(4)
    a, b, c = (np.concatenate([generator.choice(DOUBLES[:-2], 300), generator.normal(size=100)]) for _ in range(3))
    out = np.zeros((4, 400))
    kernel(1, 400, a, b, c, out, 400)
    for i, (x, y, z) in enumerate(zip(a, b, c, strict=True)):
        f, g, h = Fraction(x), Fraction(y), Fraction(z)
        if f * g + h:
            assert out[0, i] == directed(word, f * g + h), (x, y, z)
        if f and g:
            assert out[1, i] == directed(word, f / g), (x, y)
        if f:
            assert out[2, i] == directed(word, 1 / f), x
        if x > 0:
            root = out[3, i]
            inside = Fraction(root) ** 2 <= f < Fraction(np.nextafter(root, np.inf)) ** 2
            above = Fraction(np.nextafter(root, 0)) ** 2 < f <= Fraction(root) ** 2
            assert above if word == "rp" else inside, x


def test_rounding_goes_back_to_nearest(compiled):
    """Switching the CPU's mode for one operation leaves the next alone."""
    kernel = compiled.c("""
        extern "C" __global__ void k(const double* a, double* out) {
            int i = threadIdx.x;
            out[i] = __ddiv_ru(a[i], 3.0); out[32 + i] = a[i] / 3.0; out[64 + i] = __ddiv_rd(a[i], 3.0);
        }""")
    a, out = np.arange(1.0, 33), np.zeros((3, 32))
    kernel(1, 32, a, out)
    assert (out[1] == a / 3).all() and (out[0] > out[2])[a % 3 != 0].all()


# ---------------------------------------------------------------- every function of the headers

KNOWN = {
    "__half", "__half2", "__nv_bfloat16", "__nv_bfloat162", "float", "double", "int", "unsigned int", "unsigned",
    "short", "unsigned short", "short int", "unsigned short int", "long long", "long long int", "unsigned long long",
    "unsigned long long int", "signed char", "unsigned char", "float2", "double2", "bool", "__nv_fp8_storage_t",
    "__nv_fp8x2_storage_t", "__nv_fp8x4_storage_t", "__half_raw", "__half2_raw", "__nv_bfloat16_raw",
    "__nv_bfloat162_raw", "__nv_fp4_storage_t", "__nv_fp4x2_storage_t", "__nv_fp6_storage_t", "__nv_fp6x2_storage_t",
}  # fmt: skip
CHOICES = {
    "__nv_saturation_t": "__NV_SATFINITE", "__nv_fp8_interpretation_t": "__NV_E5M2",
    "cudaRoundMode": "cudaRoundNearest", "__nv_fp4_interpretation_t": "__NV_E2M1",
    "__nv_fp6_interpretation_t": "__NV_E3M2",
}  # fmt: skip
HEADERS = {
    "cuda_fp16.h": 200, "cuda_bf16.h": 200, "cuda_fp8.h": 15, "cuda_fp6.h": 10, "cuda_fp4.h": 10,
    "crt/device_functions.h": 200, "crt/device_double_functions.h": 40, "sm_61_intrinsics.h": 6,
}  # fmt: skip
_FUNCTION = re.compile(r"([A-Za-z_][\w ]*?)\s+(__?\w+|h\w+)\s*\(([^()]*)\)\s*(?:;|\{|__DEF_IF_HOST|asm)")
_DECORATION = re.compile(r"\b(?:__CUDA\w+__|__device\w*__|__host__|__forceinline__|static|inline|extern|"
                         r"__cudart_builtin__|__SM_\w+|__DEVICE\w*DECL\w*|const|enum)\b")  # fmt: skip


def functions(header: str) -> dict[tuple, str]:
    """(name, types of the parameters) -> type of the result, of what a header declares with types known here."""
    path = next(p for folder in include_folders() if os.path.exists(p := os.path.join(folder, header)))
    with open(path, encoding="utf-8", errors="replace") as file:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.DOTALL)
    found = {}
    for result, name, parameters in _FUNCTION.findall(text):
        result = " ".join(_DECORATION.sub("", result).split())
        kinds = []
        for parameter in filter(None, map(str.strip, parameters.split(","))):
            words = " ".join(_DECORATION.sub("", parameter).split())
            kind = re.sub(r"\s*\w+$", "", words) if words not in KNOWN else words
            kinds.append((kind.strip(" *"), "*" in words))
        if kinds and result in {*KNOWN, "void"} and all(kind in KNOWN or kind in CHOICES for kind, _ in kinds):
            found[name, tuple(kinds)] = result
    return found


def caller(number: int, name: str, kinds, result: str) -> str:
    given = [
        CHOICES.get(kind) or (f"p{i}" if pointer else f"p{i}[threadIdx.x]") for i, (kind, pointer) in enumerate(kinds)
    ]
    parameters = [f"{kind}* p{i}" for i, (kind, _) in enumerate(kinds) if kind not in CHOICES]
    call = f"{name}({', '.join(given)});"
    if result != "void":
        parameters, call = [*parameters, f"{result}* r"], f"r[threadIdx.x] = {call}"
    return f'extern "C" __global__ void k{number}({", ".join(parameters)}) {{ {call} }}\n'


@pytest.mark.parametrize("arch", ["compute_80", "compute_90", "compute_100a"])
@pytest.mark.parametrize("header", HEADERS)
def test_every_function_of_the_header_translates(header, arch):
    wanted = list(functions(header).items())
    include = f"#include <{header}>\n" if header.startswith("cuda") else ""
    include = "#include <cuda_fp16.h>\n" + include if "bf16" in header else include

    def translate(some) -> tuple[int, list[str]]:
        source = include + "".join(caller(i, *key, result) for i, (key, result) in enumerate(some))
        try:
            module = ptx.parse(cuda_c_to_ptx(source, arch=arch).ptx)
        except CompileError:
            if len(some) == 1:
                return 0, []  # the header declares it for other targets only
            half = len(some) // 2
            (a, x), (b, y) = translate(some[:half]), translate(some[half:])
            return a + b, x + y
        refused = []
        for i in range(len(some)):
            try:
                lower(module, module.functions[f"k{i}"], dict.fromkeys(module.variables, 4096), "k", False)
            except Unsupported as error:
                refused.append(f"{some[i][0][0]}: {error}")
        return len(some), refused

    count, refused = translate(wanted)
    assert not refused
    assert count >= HEADERS[header], f"only {count} functions were found"


# ---------------------------------------------------------------- vectors in atomics and reductions of floats


def test_atomics_on_vectors(engine):
    kernel = engine.c(
        """
        extern "C" __global__ void k(float2* two, float4* four, float4* before) {
            int i = threadIdx.x;
            atomicAdd(two + i % 2, make_float2(i, 1.0f));
            before[i] = atomicAdd(four + i % 4, make_float4(i, 2.0f * i, 1.0f, -1.0f));
            asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" :: "l"(two + 2), "f"(1.0f), "f"(0.5f * i) : "memory");
        }""",
        arch="compute_90",
    )
    two, four, before = np.zeros((4, 2), np.float32), np.zeros((4, 4), np.float32), np.zeros((64, 4), np.float32)
    kernel(1, 64, two, four, before)
    i = np.arange(64)
    assert two.tolist() == [[i[::2].sum(), 32], [i[1::2].sum(), 32], [64, i.sum() / 2], [0, 0]]
    assert four.tolist() == [[i[m::4].sum(), 2 * i[m::4].sum(), 16, -16] for m in range(4)]
    assert (np.sort(before[::4, 2]) == np.arange(16)).all()


def test_vector_atomics_on_halves(engine):
    kernel = engine.c(
        """
        extern "C" __global__ void k(unsigned* out) {
            asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %1, %2, %2};"
                         :: "l"(out), "r"(0x40003C00), "r"(0x3C003C00) : "memory");
            asm volatile("red.global.add.noftz.v2.bf16x2 [%0], {%1, %1};" :: "l"(out + 4), "r"(0x40003F80) : "memory");
        }""",
        arch="compute_90",
    )
    out = np.zeros(8, np.uint32)
    kernel(1, 32, out)
    assert out[:4].view(np.float16).tolist() == [32, 64, 32, 64, 32, 32, 32, 32]
    assert (out[4:6].view(np.uint16).astype(np.uint32) << 16).view(np.float32).tolist() == [32, 64, 32, 64]


@pytest.mark.parametrize(("words", "value"), [
    ("min", -7.0), ("max", 5.0), ("min.abs", 0.0), ("max.abs", 7.0), ("min.NaN", np.nan), ("max.abs.NaN", np.nan),
])  # fmt: skip
def test_reductions_of_floats(engine, words, value):
    kernel = engine.c(
        f"""
        extern "C" __global__ void k(const float* in, float* out) {{
            float r; unsigned half = threadIdx.x < 16 ? 0xffff : 0xffff0000;
            asm volatile("redux.sync.{words}.f32 %0, %1, %2;" : "=f"(r) : "f"(in[threadIdx.x]), "r"(half));
            out[threadIdx.x] = r;
        }}""",
        arch="compute_100a",
    )
    given = np.concatenate([[5.0, -7.0, np.nan, 0.0], np.linspace(-3, 4, 12), [-0.0] + [0.0] * 15]).astype(np.float32)
    out = np.zeros(32, np.float32)
    kernel(1, 32, given, out)
    np.testing.assert_array_equal(out[:16], np.full(16, value, np.float32))
    assert (out[16:] == 0).all() and (np.signbit(out[16:]) == (words in ("min", "min.NaN"))).all()


def test_vset():
    a, b = 0x01FF8003, 0x02FE7F03
    assert meaning("vset4.u32.u32.lt", [a], [b], [7])[0] == [0x01000000]
    assert meaning("vset4.s32.s32.lt", [a], [b], [7])[0] == [0x01000100]
    assert meaning("vset4.u32.u32.ge.add", [a], [b], [7])[0] == [10]
    assert meaning("vset2.u32.u32.gt", [a], [b], [0])[0] == [0x00000001]


def test_vectors_of_eight(engine):
    """Blackwell's accesses of 32 bytes a thread."""
    kernel = engine.c(
        """
        struct alignas(32) Eight { float x[8]; };
        extern "C" __global__ void k(const Eight* in, Eight* out) {
            Eight e = in[threadIdx.x]; e.x[7] += 1.0f; out[31 - threadIdx.x] = e;
        }""",
        arch="compute_100",
    )
    given, out = np.arange(256, dtype=np.float32).reshape(32, 8), np.zeros((32, 8), np.float32)
    kernel(1, 32, given, out)
    given[:, 7] += 1
    assert (out == given[::-1]).all()


def test_words_of_128_bits(engine):
    kernel = engine.c(
        """
        struct alignas(16) Two { unsigned long long low, high; };
        extern "C" __global__ void k(Two* data, Two* old, Two* turns) {
            int i = threadIdx.x;
            asm volatile("{ .reg .b128 %x; ld.global.b128 %x, [%0]; st.global.b128 [%1], %x; }"
                         :: "l"(data + i), "l"(data + 64 + i) : "memory");
            Two mine = {7ull + i, 1ull << 63 | i};
            asm volatile("{ .reg .b128 %x, %y; mov.b128 %x, {%3, %4}; atom.global.exch.b128 %y, [%2], %x;"
                         " mov.b128 {%0, %1}, %y; }"
                         : "=l"(old[i].low), "=l"(old[i].high) : "l"(turns), "l"(mine.low), "l"(mine.high) : "memory");
            unsigned long long a, b;
            asm volatile("{ .reg .b128 %x, %y, %z; mov.b128 %x, {%3, %4}; mov.b128 %y, {%4, %3};"
                         " atom.global.cas.b128 %z, [%2], %x, %y; mov.b128 {%0, %1}, %z; }"
                         : "=l"(a), "=l"(b) : "l"(data + 128 + i), "l"(5ull), "l"(6ull) : "memory");
            turns[1 + i].low = a; turns[1 + i].high = b;
        }""",
        arch="compute_90",
    )
    data = np.arange(384, dtype=np.uint64).reshape(192, 2) * (2**40 + 1)
    data[128:144] = (5, 6)
    old, turns = np.zeros((64, 2), np.uint64), np.zeros((65, 2), np.uint64)
    turns[0] = (1, 2)
    before = data.copy()
    kernel(1, 64, data, old, turns)
    assert (data[64:128] == before[:64]).all()
    assert (data[128:144] == (6, 5)).all() and (data[144:] == before[144:]).all()
    assert (turns[1:] == before[128:]).all()
    mine = [(7 + i, 1 << 63 | i) for i in range(64)]
    assert [tuple(row) for row in old.tolist()] == [(1, 2), *mine[:-1]]
    assert tuple(turns[0].tolist()) == mine[-1]


def test_a_vector_of_one(engine):
    """Triton writes the target of every load in braces."""
    text = """
        .version 8.5
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 x) {
            .reg .b64 %p, %i; .reg .b32 %t, %a;
            ld.param.b64 %p, [x]; mov.u32 %t, %tid.x; mul.wide.u32 %i, %t, 4; add.u64 %p, %p, %i;
            ld.global.b32 { %a }, [%p]; add.u32 %a, %a, 1; st.global.b32 [%p], { %a }; ret;
        }"""
    data = np.arange(32, dtype=np.uint32)
    run_ptx(engine.name, text, [data])
    assert (data == np.arange(1, 33)).all()


@pytest.mark.parametrize("kind", ["f16x2", "bf16x2"])
def test_relu_makes_every_nan_the_canonical_one(engine, kind):
    """PTX ISA, `fma`: `.relu` makes 0 of what is negative; any NaN, of either sign, becomes the canonical one."""
    one = {"f16x2": 0x3C00, "bf16x2": 0x3F80}[kind]
    infinity = {"f16x2": 0x7C00, "bf16x2": 0x7F80}[kind]
    minus = 0x8000
    text = f"""
        .version 8.7
        .target sm_100a
        .address_size 64
        .visible .entry k(.param .u64 x, .param .u64 y) {{
        .reg .b64 %p, %q, %i; .reg .b32 %a, %d, %t, %one, %zero;
        ld.param.u64 %p, [x]; ld.param.u64 %q, [y]; mov.u32 %t, %tid.x; mul.wide.u32 %i, %t, 4;
        add.u64 %p, %p, %i; add.u64 %q, %q, %i;
        ld.global.b32 %a, [%p]; mov.b32 %one, {one << 16 | one}; mov.b32 %zero, 0;
        fma.rn.relu.{kind} %d, %a, %one, %zero;
        st.global.b32 [%q], %d; ret;
        }}
    """
    numbers = [one, minus | one, infinity, minus | infinity, 0]
    nans = [infinity | 1, minus | infinity | 1, 0x7FFF, minus | 0x7FFF, infinity | 0x15]
    given = np.resize(np.uint16(numbers + nans), 64)
    out = np.zeros_like(given)
    run_ptx(engine.name, text, [given, out])
    assert out.tolist() == np.resize(np.uint16([one, 0, infinity, 0, 0] + [0x7FFF] * 5), 64).tolist()


@pytest.mark.parametrize("target", ["f16", "bf16", "tf32"])
def test_cvt_relu_makes_every_nan_the_canonical_one(engine, target):
    given = np.uint32([0x7FC00000, 0xFFC00000, 0x7F800001, 0x40000000, 0xC0000000] * 2).view(np.float32)
    wide = target == "tf32"
    out = np.zeros(len(given), np.uint32 if wide else np.uint16)
    convert(engine, f"cvt.rn.relu.{target}.f32", "f32", "b32" if wide else "b16", given, out, False)
    nan, two = (0x7FFFFFFF, 0x40000000) if wide else (0x7FFF, 0x4000)
    assert out.tolist() == [nan, nan, nan, two, 0] * 2
