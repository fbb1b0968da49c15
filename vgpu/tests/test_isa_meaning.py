"""What rows of the instruction table mean, against plain integers and exact fractions.

The engines are compared with each other elsewhere; here a row that both have wrong cannot hide, for what is expected
is computed bit by bit from the definitions in NVIDIA's "PTX ISA", without NumPy's arithmetic.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from vgpu import isa
from vgpu.reference.compute import evaluate

RANDOM = random.Random(11)


def meaning(text: str, *columns) -> list[list[int]]:
    """Apply an instruction to columns of raw bits; one list of raw bits an output."""
    opcode, *mods = text.split(".")
    found = isa.match(opcode, tuple(mods))
    assert found is not None, f"{text} is in no row"
    values = []
    for symbol, column in zip(found.op.inputs, columns, strict=False):
        kind = isa.operand_type(symbol, found.form)
        if found.packed and symbol in "ts":
            values.append(np.array(column, f"u{found.form.t.bits // 4}"))
        elif kind.kind == "p":
            values.append(np.array(column, bool))
        else:
            raw = np.array(column, f"u{kind.bits // 8}")
            values.append(raw if kind.kind == "h" else raw.view(kind.dtype))
    results = evaluate(found, values)
    return [
        (r if r.dtype == bool else np.ascontiguousarray(r).view(f"u{r.dtype.itemsize}")).astype(object).tolist()
        for r in results
    ]


# ---------------------------------------------------------------- 64-bit integers as floats of 16 bits


def rounded(value: int, digits: int, word: str) -> Fraction:
    """The number with so many binary digits nearest to an integer (ties to even), or the next in a direction."""
    unit = Fraction(2) ** max(abs(value).bit_length() - digits, 0)
    low = value // unit * unit
    high = low if low == value else low + unit
    if word == "rn":
        return min(low, high, key=lambda each: (abs(each - value), each / unit % 2))
    return {"rm": low, "rp": high, "rz": low if value > 0 else high}[word]


HALFWAY = (1 << 62) + (1 << 54)  # between two numbers of bf16, of which the lower one is even
CLOSE = (2**63 - 1, 2**63 - 2**55 + 1, HALFWAY - 1, HALFWAY, HALFWAY + 1, HALFWAY + (1 << 55), 1, 257, 3 * 2**40 + 1)


@pytest.mark.parametrize("word", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("source", ["s64", "u64"])
def test_64_bit_integers_are_rounded_once(engine, word, source):
    """A double between an integer and bf16 would round it twice."""
    given = [*CLOSE, *(-value for value in CLOSE if source == "s64")]
    kernel = engine.c(
        f"""extern "C" __global__ void k(const long long* x, unsigned short* out) {{
        asm("cvt.{word}.bf16.{source} %0, %1;" : "=h"(out[threadIdx.x]) : "l"(x[threadIdx.x])); }}""",
        arch="compute_90",
    )
    bits = np.zeros(len(given), np.uint16)
    kernel(1, len(given), np.array(given, np.int64), bits)
    got = (bits.astype(np.uint32) << 16).view(np.float32).tolist()
    assert [Fraction(each) for each in got] == [rounded(value, 8, word) for value in given]


# ---------------------------------------------------------------- integers


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def integers(bits: int) -> list[int]:
    top = 1 << (bits - 1)
    edge = [0, 1, 2, 3, -1, -2, top, top - 1, top + 1, 0x5A5A5A5A5A5A5A5A, bits, bits - 1]
    return [v & ((1 << bits) - 1) for v in edge] + [RANDOM.getrandbits(bits) for _ in range(6)]


def quotient(a: int, b: int) -> int:
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return a - quotient(a, b) * b


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def bfe(a, position, length, bits, is_signed):
    position, length = position & 255, length & 255
    sign = 0 if not is_signed or length == 0 else a >> min(position + length - 1, bits - 1) & 1
    picked = [a >> (position + i) & 1 if i < length and position + i < bits else sign for i in range(bits)]
    return sum(bit << i for i, bit in enumerate(picked))


def bfi(a, b, position, length, bits):
    position, length = position & 255, length & 255
    for i in range(min(length, max(bits - position, 0))):
        b = b & ~(1 << position + i) | (a >> i & 1) << position + i
    return b


def bfind(a, bits, is_signed):
    a = ~signed(a, bits) if is_signed and a >> (bits - 1) else a
    return a.bit_length() - 1


def prmt(a, b, c):
    source = [(a | b << 32) >> 8 * i & 255 for i in range(8)]
    result = 0
    for i in range(4):
        control = c >> 4 * i & 15
        byte = source[control & 7]
        result |= (255 * (byte >> 7) if control & 8 else byte) << 8 * i
    return result


def funnel(a, b, c, left, wrap):
    shift = c & 31 if wrap else min(c, 32)
    both = b << 32 | a
    return (both << shift >> 32 if left else both >> shift) & 0xFFFFFFFF


BINARY = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul.lo": lambda a, b, w: a * b,
    "mul.hi": lambda a, b, w: a * b >> w,
    "div": lambda a, b, w: quotient(a, b),
    "rem": lambda a, b, w: remainder(a, b),
    "min": lambda a, b, w: min(a, b),
    "max": lambda a, b, w: max(a, b),
}
INTEGER_TYPES = [(k, b) for k in "us" for b in (16, 32, 64)]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(("kind", "bits"), INTEGER_TYPES)
def test_integer_arithmetic(name, kind, bits):
    pairs = list(itertools.product(integers(bits), repeat=2))
    see = (lambda v: signed(v, bits)) if kind == "s" else (lambda v: v)
    expected = [BINARY[name](see(a), see(b), bits) & ((1 << bits) - 1) for a, b in pairs]
    assert meaning(f"{name}.{kind}{bits}", *zip(*pairs, strict=True))[0] == expected


@pytest.mark.parametrize(("kind", "bits"), [(k, b) for k in "us" for b in (16, 32)])
def test_wide_products(kind, bits):
    pairs = list(itertools.product(integers(bits), repeat=2))
    see = (lambda v: signed(v, bits)) if kind == "s" else (lambda v: v)
    columns = list(zip(*pairs, strict=True))
    addend = [RANDOM.getrandbits(2 * bits) for _ in pairs]
    mask = (1 << 2 * bits) - 1
    assert meaning(f"mul.wide.{kind}{bits}", *columns)[0] == [see(a) * see(b) & mask for a, b in pairs]
    expected = [see(a) * see(b) + c & mask for (a, b), c in zip(pairs, addend, strict=True)]
    assert meaning(f"mad.wide.{kind}{bits}", *columns, addend)[0] == expected


@pytest.mark.parametrize(("kind", "bits"), [(k, b) for k in "us" for b in (32, 64)])
def test_carries_chain(kind, bits):
    """Whatever the sign of the type, the carry is that of the unsigned sum; a difference is a + ~b + carry."""
    triples = [(a, b, c) for a, b in itertools.product(integers(bits), repeat=2) for c in (0, 1)]
    a, b, carry = zip(*triples, strict=True)
    top, mask = 1 << bits, (1 << bits) - 1
    total, over = meaning(f"addc.cc.{kind}{bits}", a, b, carry)
    assert total == [(x + y + c) & mask for x, y, c in triples]
    assert over == [x + y + c >= top for x, y, c in triples]
    total, over = meaning(f"subc.cc.{kind}{bits}", a, b, carry)
    assert total == [(x - y - (1 - c)) & mask for x, y, c in triples]
    assert over == [x >= y + (1 - c) for x, y, c in triples]
    total, over = meaning(f"sub.cc.{kind}{bits}", a, b)
    assert total == [(x - y) & mask for x, y, c in triples]
    assert over == [x >= y for x, y, c in triples]


def test_saturating_and_24_bit_arithmetic():
    pairs = list(itertools.product(integers(32), repeat=2))
    columns = list(zip(*pairs, strict=True))
    low, high, mask = -(2**31), 2**31 - 1, 0xFFFFFFFF
    see = lambda v: signed(v, 32)
    cut = lambda v: signed(v & 0xFFFFFF, 24)
    for text, expected in [
        ("add.sat.s32", lambda a, b: clamp(see(a) + see(b), low, high)),
        ("sub.sat.s32", lambda a, b: clamp(see(a) - see(b), low, high)),
        ("mul24.lo.s32", lambda a, b: cut(a) * cut(b)),
        ("mul24.lo.u32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
        ("mul24.hi.s32", lambda a, b: cut(a) * cut(b) >> 16),
        ("mul24.hi.u32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 16),
    ]:
        assert meaning(text, *columns)[0] == [expected(a, b) & mask for a, b in pairs], text
    addends = columns[0][::-1]
    triples = [(*pair, c) for pair, c in zip(pairs, addends, strict=True)]
    high = lambda a, b: signed(cut(a) * cut(b) >> 16 & mask, 32)
    for text, expected in [
        ("mad24.lo.s32", lambda a, b, c: cut(a) * cut(b) + c),
        ("mad24.lo.u32", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
        ("mad24.hi.s32", lambda a, b, c: high(a, b) + c),
        ("mad24.hi.u32", lambda a, b, c: ((a & 0xFFFFFF) * (b & 0xFFFFFF) >> 16) + c),
        ("mad24.hi.sat.s32", lambda a, b, c: clamp(high(a, b) + see(c), -(2**31), 2**31 - 1)),
    ]:
        assert meaning(text, *columns, addends)[0] == [expected(*triple) & mask for triple in triples], text


SHIFTS = [0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 255, 0xFFFFFFFF]


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_shifts_by_too_much_give_nothing_or_the_sign(bits):
    pairs = list(itertools.product(integers(bits), SHIFTS))
    columns = list(zip(*pairs, strict=True))
    mask = (1 << bits) - 1
    assert meaning(f"shl.b{bits}", *columns)[0] == [a << min(s, 99) & mask for a, s in pairs]
    assert meaning(f"shr.u{bits}", *columns)[0] == [a >> min(s, 99) for a, s in pairs]
    assert meaning(f"shr.s{bits}", *columns)[0] == [signed(a, bits) >> min(s, 99) & mask for a, s in pairs]


@pytest.mark.parametrize("bits", [32, 64])
def test_bits_are_found_counted_and_moved(bits):
    values = integers(bits)
    mask, absent = (1 << bits) - 1, 0xFFFFFFFF
    assert meaning(f"popc.b{bits}", values)[0] == [v.bit_count() for v in values]
    assert meaning(f"clz.b{bits}", values)[0] == [bits - v.bit_length() for v in values]
    assert meaning(f"brev.b{bits}", values)[0] == [int(f"{v:0{bits}b}"[::-1], 2) for v in values]
    for kind in "us":
        found = [bfind(v, bits, kind == "s") for v in values]
        assert meaning(f"bfind.{kind}{bits}", values)[0] == [f & absent for f in found]
        shift = [absent if f < 0 else bits - 1 - f for f in found]
        assert meaning(f"bfind.shiftamt.{kind}{bits}", values)[0] == shift
    cases = [(a, p, n) for a in values[:8] for p in (0, 3, 31, 63, 70, 255, 256) for n in (0, 1, 8, 32, 64, 255)]
    a, position, length = zip(*cases, strict=True)
    for kind in "us":
        expected = [bfe(*case, bits, kind == "s") for case in cases]
        assert meaning(f"bfe.{kind}{bits}", a, position, length)[0] == expected
    b = [RANDOM.getrandbits(bits) for _ in cases]
    expected = [bfi(x, y, p, n, bits) & mask for (x, p, n), y in zip(cases, b, strict=True)]
    assert meaning(f"bfi.b{bits}", a, b, position, length)[0] == expected


def test_bytes_are_permuted_and_words_funnelled():
    triples = [tuple(RANDOM.getrandbits(32) for _ in range(3)) for _ in range(200)]
    triples += [(a, b, s) for a, b, s in itertools.product(integers(32)[:6], integers(32)[:6], SHIFTS)]
    columns = list(zip(*triples, strict=True))
    assert meaning("prmt.b32", *columns)[0] == [prmt(*t) for t in triples]
    for way, mode in itertools.product("lr", ("wrap", "clamp")):
        expected = [funnel(*t, way == "l", mode == "wrap") for t in triples]
        assert meaning(f"shf.{way}.{mode}.b32", *columns)[0] == expected
    for table in (0x80, 0xE8, 0x96, 0x6A, 0x01, 0xF8):
        expected = [
            sum((table >> (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1) & 1) << i for i in range(32))
            for a, b, c in triples
        ]
        assert meaning("lop3.b32", *columns, [table] * len(triples))[0] == expected


# ---------------------------------------------------------------- floats


class Format:
    """An IEEE format: `precision` bits with the hidden one, exponents from `lowest`."""

    def __init__(self, name: str, bits: int, precision: int, lowest: int):
        self.name, self.bits, self.precision, self.lowest = name, bits, precision, lowest
        self.highest = 1 - lowest
        self.infinity = ((1 << (bits - precision)) - 1) << (precision - 1)
        self.sign = 1 << (bits - 1)

    def decode(self, raw: int):
        """(negative, exact value), the value "inf" or "nan" where it has none."""
        negative, magnitude = raw & self.sign != 0, raw & ~self.sign
        if magnitude >= self.infinity:
            return negative, "inf" if magnitude == self.infinity else "nan"
        exponent, fraction = magnitude >> (self.precision - 1), magnitude & ((1 << (self.precision - 1)) - 1)
        if exponent:
            fraction += 1 << (self.precision - 1)
        value = Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - 1 + self.lowest - self.precision + 1)
        return negative, -value if negative else value

    def encode(self, value: Fraction, mode: str = "rn", negative_zero: bool = False) -> int:
        """Round an exact value: to nearest even, towards zero, down or up."""
        if value == 0:
            return self.sign if negative_zero else 0
        negative, magnitude = value < 0, abs(value)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        exponent -= magnitude < Fraction(2) ** exponent
        exponent = max(exponent, self.lowest)
        scaled = magnitude / Fraction(2) ** (exponent - self.precision + 1)
        whole, rest = scaled.numerator // scaled.denominator, scaled % 1
        away = {
            "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
            "rz": False,
            "rm": negative and rest > 0,
            "rp": not negative and rest > 0,
        }[mode]
        raw = (exponent - self.lowest) * (1 << (self.precision - 1)) + whole + away
        if raw >= self.infinity:  # rounding away from zero overflows, towards zero stops at the largest number
            outward = mode == "rn" or mode == ("rm" if negative else "rp")
            raw = self.infinity if outward else self.infinity - 1
        return raw | (self.sign if negative else 0)


FORMATS = {
    f.name: f
    for f in (Format("f16", 16, 11, -14), Format("bf16", 16, 8, -126), Format("f32", 32, 24, -126))
} | {"f64": Format("f64", 64, 53, -1022)}  # fmt: skip


def numbers(f: Format, extra: int = 24) -> list[int]:
    """Raw bits: zeros, one and its neighbours, subnormals, the largest, infinities, NaN, and random ones."""
    one = ((1 << (f.bits - f.precision - 1)) - 1) << (f.precision - 1)
    smallest = 1 << (f.precision - 1)
    magnitudes = [
        0,
        one,
        one + 1,
        one - 1,
        1,
        smallest - 1,
        smallest,
        f.infinity - 1,
        f.infinity,
        one + (smallest >> 1),
    ]
    return [m | s for m in magnitudes for s in (0, f.sign)] + [f.infinity + 1] + [
        RANDOM.getrandbits(f.bits) for _ in range(extra)
    ]  # fmt: skip


def check(f: Format, text: str, cases, expected) -> None:
    """`expected(case)` is raw bits, or None for any NaN."""
    got = meaning(text, *zip(*cases, strict=True))[0]
    for case, raw in zip(cases, got, strict=True):
        wanted = expected(*case)
        if wanted is None:
            assert f.decode(raw)[1] == "nan", (text, [hex(c) for c in case], hex(raw))
        else:
            assert raw == wanted, (text, [hex(c) for c in case], hex(raw), hex(wanted))


def signed_zero(mode: str, a: bool, b: bool) -> bool:
    """The sign of an exact zero sum of terms with these signs: equal signs stay, else + but when rounding down."""
    return a if a == b else mode == "rm"


def add(f: Format, mode: str, x: int, y: int):
    (a_negative, a), (b_negative, b) = f.decode(x), f.decode(y)
    if "nan" in (a, b) or (a == b == "inf" and a_negative != b_negative):
        return None
    for value, raw in ((a, x), (b, y)):
        if value == "inf":
            return raw
    return f.encode(a + b, mode, signed_zero(mode, a_negative, b_negative))


def multiply(f: Format, mode: str, x: int, y: int):
    (a_negative, a), (b_negative, b) = f.decode(x), f.decode(y)
    negative = a_negative != b_negative
    if "nan" in (a, b) or ("inf" in (a, b) and 0 in (a, b)):
        return None
    if "inf" in (a, b):
        return f.infinity | (f.sign if negative else 0)
    return f.encode(a * b, mode, negative)


def divide(f: Format, mode: str, x: int, y: int):
    (a_negative, a), (b_negative, b) = f.decode(x), f.decode(y)
    sign = f.sign if a_negative != b_negative else 0
    if "nan" in (a, b) or a == b == "inf" or (a == 0 and b == 0):
        return None
    if a == "inf" or b == 0:
        return f.infinity | sign
    return sign if b == "inf" else f.encode(a / b, mode, bool(sign))


def fuse(f: Format, mode: str, x: int, y: int, z: int):
    (a_negative, a), (b_negative, b), (c_negative, c) = f.decode(x), f.decode(y), f.decode(z)
    negative = a_negative != b_negative
    product = "nan" if "nan" in (a, b) or ("inf" in (a, b) and 0 in (a, b)) else "inf" if "inf" in (a, b) else a * b
    if "nan" in (product, c) or (product == c == "inf" and negative != c_negative):
        return None
    if product == "inf":
        return f.infinity | (f.sign if negative else 0)
    return z if c == "inf" else f.encode(product + c, mode, signed_zero(mode, negative, c_negative))


MODES = ("rn", "rz", "rm", "rp")
FLOATS = [(t, mode) for t in ("f32", "f64") for mode in MODES] + [("f16", "rn"), ("bf16", "rn")]


@pytest.mark.parametrize(("name", "mode"), FLOATS)
@pytest.mark.parametrize("operation", [add, multiply])
def test_sums_and_products_are_rounded_once(operation, name, mode):
    f = FORMATS[name]
    cases = list(itertools.product(numbers(f, 12), repeat=2))
    opcode = "add" if operation is add else "mul"
    text = f"{opcode}.{mode}.{name}" if f.bits > 16 else f"{opcode}.{name}"
    check(f, text, cases, lambda x, y: operation(f, mode, x, y))


@pytest.mark.parametrize(("name", "mode"), [f for f in FLOATS if f[0] != "f64" or f[1] == "rn"])
def test_fused_products_are_rounded_once(name, mode):
    f = FORMATS[name]
    values = numbers(f)
    cases = [tuple(RANDOM.choice(values) for _ in range(3)) for _ in range(800)]
    # Products that nearly cancel the addend show a second rounding.
    near = [(a, b) for a, b in itertools.product(values[:12], repeat=2) if multiply(f, "rn", a, b) is not None]
    cases += [(a, b, multiply(f, "rn", a, b) ^ f.sign) for a, b in near]
    check(f, f"fma.{mode}.{name}", cases, lambda x, y, z: fuse(f, mode, x, y, z))


@pytest.mark.parametrize(("name", "mode"), [*(("f32", mode) for mode in MODES), ("f64", "rn")])
def test_quotients_and_roots_are_rounded_once(name, mode):
    f = FORMATS[name]
    values = numbers(f)
    one = f.encode(Fraction(1))
    check(f, f"div.{mode}.{name}", list(itertools.product(values, repeat=2)), lambda x, y: divide(f, mode, x, y))
    check(f, f"rcp.{mode}.{name}", [(v,) for v in values], lambda x: divide(f, mode, one, x))
    check(f, f"sqrt.{mode}.{name}", [(v,) for v in values], lambda x: root(f, mode, x))


def root(f: Format, mode: str, x: int):
    negative, value = f.decode(x)
    if value == "nan" or (negative and value != 0):
        return None
    if value in ("inf", 0):
        return x
    # An integer root with many spare bits, made inexact by a last 1 when it is, rounds as the true root does.
    shift = 2 * (f.precision + 40) - 2 * (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    shift += shift % 2
    scaled = value * Fraction(2) ** shift
    whole = isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(whole * whole) == scaled
    return f.encode((Fraction(whole) + (0 if exact else Fraction(1, 2))) / Fraction(2) ** (shift // 2), mode)


@pytest.mark.parametrize(("name", "word"), [(n, w) for n in FORMATS for w in ("min", "max")])
def test_minimum_and_maximum_order_zeros_and_avoid_nan(name, word):
    f = FORMATS[name]

    def expected(x, y):
        (xn, a), (yn, b) = f.decode(x), f.decode(y)
        if a == "nan" or b == "nan":
            return None if a == b else (y if a == "nan" else x)
        order = lambda negative, raw: -(raw & ~f.sign) - 1 if negative else raw
        return (min if word == "min" else max)((order(xn, x), x), (order(yn, y), y))[1]

    check(f, f"{word}.{name}", list(itertools.product(numbers(f, 8), repeat=2)), expected)


@pytest.mark.parametrize("name", FORMATS)
def test_comparisons_treat_nan_as_unordered(name):
    f = FORMATS[name]
    cases = list(itertools.product(numbers(f, 6), repeat=2))
    inf = Fraction(2) ** 5000

    def value(raw):
        negative, v = f.decode(raw)
        return None if v == "nan" else (-inf if negative else inf) if v == "inf" else v

    ordered = {
        "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    }  # fmt: skip
    for word, test in ordered.items():
        for suffix, on_nan in (("", False), ("u", True)):
            got = meaning(f"setp.{word}{suffix}.{name}", *zip(*cases, strict=True))[0]
            expected = [on_nan if None in (value(x), value(y)) else test(value(x), value(y)) for x, y in cases]
            assert got == expected, word + suffix
    unordered = [None in (value(x), value(y)) for x, y in cases]
    assert meaning(f"setp.nan.{name}", *zip(*cases, strict=True))[0] == unordered
    assert meaning(f"setp.num.{name}", *zip(*cases, strict=True))[0] == [not u for u in unordered]


# ---------------------------------------------------------------- conversions

NARROWING = [(t, s, mode) for t, s in [("f32", "f64"), ("f16", "f32"), ("f16", "f64")] for mode in MODES]
NARROWING += [("bf16", "f32", "rn"), ("bf16", "f32", "rz")]
WIDENING = [("f64", "f32", ""), ("f32", "f16", ""), ("f64", "f16", ""), ("f32", "bf16", "")]


@pytest.mark.parametrize(("t", "s", "mode"), NARROWING + WIDENING)
def test_floats_convert_to_floats(t, s, mode):
    target, source = FORMATS[t], FORMATS[s]
    values = numbers(source, 60)
    # Halfway points between neighbours of the target, and their own neighbours.
    step = 1 << max(source.precision - target.precision - 1, 0)
    values += [(v & ~(2 * step - 1)) + d for v in values[:8] for d in (step - 1, step, step + 1) if mode]

    def expected(x):
        negative, value = source.decode(x)
        if value == "nan":
            return None
        sign = target.sign if negative else 0
        return target.infinity | sign if value == "inf" else target.encode(value, mode or "rn", negative)

    text = f"cvt.{mode}.{t}.{s}" if mode else f"cvt.{t}.{s}"
    check(target, text, [(v,) for v in values], expected)


@pytest.mark.parametrize("kind", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_floats_convert_to_integers(name, kind):
    """Rounded as asked, then clamped to the integer's range; NaN gives 0, or the top bit."""
    f, bits = FORMATS[name], int(kind[1:])
    low, high = isa.TYPES[kind].limits
    near = [f.encode(Fraction(v) + d) for v in (low, high, 0, 3) for d in (-1, Fraction(-1, 2), 0, Fraction(1, 2), 1)]
    values = near + numbers(f, 30)

    def floor(value):
        return value.numerator // value.denominator

    rounding = {
        "rni": round,
        "rzi": lambda v: floor(v) if v >= 0 else -floor(-v),
        "rmi": floor,
        "rpi": lambda v: -floor(-v),
    }
    for word, whole in rounding.items():
        got = meaning(f"cvt.{word}.{kind}.{name}", values)[0]
        for raw, result in zip(values, got, strict=True):
            negative, value = f.decode(raw)
            limit = low if negative else high
            lost = 1 << bits - 1 if bits == 64 or name == "f64" else 0
            number = lost if value == "nan" else limit if value == "inf" else clamp(whole(value), low, high)
            assert result == number & ((1 << bits) - 1), (word, hex(raw), result, number)


@pytest.mark.parametrize("kind", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize(("name", "mode"), [(t, m) for t in ("f32", "f64") for m in MODES] + [("f16", "rn")])
def test_integers_convert_to_floats(name, mode, kind):
    f, bits = FORMATS[name], int(kind[1:])
    # Halfway between two floats, one below and one above.
    ties = [(1 << bits - 1) - (1 << max(bits - 2 - f.precision, 0)) + d for d in (-1, 0, 1)]
    values = integers(bits) + ties + [(1 << bits) - 1 - (1 << k) for k in range(0, bits - 1, 5)]
    see = (lambda v: signed(v, bits)) if kind[0] == "s" else (lambda v: v)
    check(f, f"cvt.{mode}.{name}.{kind}", [(v,) for v in values], lambda v: f.encode(Fraction(see(v)), mode))


@pytest.mark.parametrize("t", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("s", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
def test_integers_convert_to_integers(t, s):
    bits, mask = int(s[1:]), (1 << int(t[1:])) - 1
    values = integers(bits)
    see = [signed(v, bits) if s[0] == "s" else v for v in values]
    assert meaning(f"cvt.{t}.{s}", values)[0] == [v & mask for v in see]
    assert meaning(f"cvt.sat.{t}.{s}", values)[0] == [clamp(v, *isa.TYPES[t].limits) & mask for v in see]


# ---------------------------------------------------------------- modifiers


def test_flushing_makes_subnormals_zero_and_keeps_their_sign():
    f = FORMATS["f32"]
    tiny, one = 1, 0x3F800000
    assert meaning("add.ftz.f32", [tiny, tiny | f.sign], [0, f.sign])[0] == [0, f.sign]
    assert meaning("mul.ftz.f32", [0x00800000], [0x3F000000])[0] == [0], "the result is flushed too"
    assert meaning("mul.f32", [0x00800000], [0x3F000000])[0] == [0x00400000]
    assert meaning("setp.eq.ftz.f32", [tiny], [0])[0] == [True]
    assert meaning("fma.rn.ftz.f32", [tiny], [one], [one])[0] == [one]
    assert meaning("abs.ftz.f32", [tiny | f.sign])[0] == [0]


def test_saturation_clamps_to_the_unit_interval_and_drops_nan():
    raw = lambda x: int(np.float32(x).view(np.uint32))
    a, b = [raw(0.75), raw(-1), raw(0.25), 0x7FC00000], [raw(0.75), raw(0.5), raw(0.25), raw(1)]
    assert meaning("add.sat.f32", a, b)[0] == [raw(1), 0, raw(0.5), 0]


def test_packed_halves_are_computed_each_by_itself():
    f = FORMATS["f16"]
    cases = [(RANDOM.getrandbits(32), RANDOM.getrandbits(32)) for _ in range(300)]
    got = meaning("add.f16x2", *zip(*cases, strict=True))[0]
    for (a, b), result in zip(cases, got, strict=True):
        for shift in (0, 16):
            x, y, z = (v >> shift & 0xFFFF for v in (a, b, result))
            expected = add(f, "rn", x, y)
            assert z == expected if expected is not None else f.decode(z)[1] == "nan"


def test_what_the_table_lacks_has_no_match():
    assert isa.match("tex", ("2d", "v4", "f32", "s32")) is None
    assert isa.match("add", ()) is None
    assert isa.match("fma", ("rz", "f16")) is None, "rounded otherwise than asked would be worse than not at all"
    assert isa.match("add", ("rn", "unheard", "f32")) is None, "what is not understood may not be passed over"
    assert isa.match("mul", ("lo", "sat", "s32")) is None
