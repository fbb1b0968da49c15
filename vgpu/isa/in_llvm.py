"""The less obvious PTX operations in LLVM IR; `m` is the instruction's form.

Integers arrive as iN, f32 and f64 as float and double, f16 and bf16 as float (the lowering rounds results back).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vgpu.ir import Value, element_bits
from vgpu.isa import directed
from vgpu.isa.types import FLOAT_COMPARE, INTEGER_COMPARE, Form


def compare(m: Form, a: Value, b: Value) -> Value:
    if m.s.is_float:
        return a.compare(FLOAT_COMPARE[m.compare], b)
    return a.compare(INTEGER_COMPARE[m.compare].replace("?", "s" if m.s.kind == "s" else "u"), b)


def setp(m: Form, a: Value, b: Value, c: Value | None = None) -> tuple[Value, Value]:
    result = compare(m, a, b)
    if c is None:
        return result, ~result
    word = m.pick({"and": "and", "or": "or", "xor": "xor"})
    return result.binary(word, c), (~result).binary(word, c)


def set_value(m: Form, a: Value, b: Value, c: Value | None = None) -> Value:
    result = setp(m, a, b, c)[0]
    if m.t.is_float:
        return result.cast("uitofp", "float")
    return result.cast("sext", f"i{m.t.bits}")


def widen_multiply(m: Form, a: Value, b: Value) -> Value:
    signed, bits = m.t.kind == "s", 2 * m.t.bits
    return a.to(f"i{bits}", signed) * b.to(f"i{bits}", signed)


def multiply_high(m: Form, a: Value, b: Value) -> Value:
    wide = widen_multiply(m, a, b)
    return (wide >> m.t.bits).to(f"i{m.t.bits}")


def divide(m: Form, a: Value, b: Value) -> Value:
    """Integer division that cannot trap: x/0 gives all ones and MIN/-1 gives MIN."""
    signed, zero = m.t.kind == "s", b.eq(0)
    safe = zero.select(1, b)
    if m.t.bits <= 32:
        # float64 division of 32-bit integers, truncated, is exact; CPUs have it for vectors.
        x = a.cast("sitofp" if signed else "uitofp", "double")
        y = safe.cast("sitofp" if signed else "uitofp", "double")
        quotient = (x / y).cast("fptosi", "i64").to(f"i{m.t.bits}")
    elif a.vector or b.vector:
        quotient = a.lanewise("wb_div_s64" if signed else "wb_div_u64", safe, result="i64")
    else:
        if signed:
            low = a.eq(1 << 63)
            trap = low & safe.eq(-1)
            safe = trap.select(1, safe)
        quotient = a.binary("sdiv" if signed else "udiv", safe)
    return zero.select(-1, quotient)


def remainder(m: Form, a: Value, b: Value) -> Value:
    return a - divide(m, a, b) * b


def minimum(m: Form, a: Value, b: Value, c: Value | None = None) -> Value:
    return _extreme(m, a, b, c, "lt", "or")


def maximum(m: Form, a: Value, b: Value, c: Value | None = None) -> Value:
    return _extreme(m, a, b, c, "gt", "and")


def _extreme(m: Form, a: Value, b: Value, c: Value | None, word: str, equal: str) -> Value:
    if c is not None:
        rest = _extreme(m, a, b, None, word, equal)
        return _extreme(m, rest, c, None, word, equal)
    if not m.t.is_float:
        result = a.compare(("s" if m.t.kind == "s" else "u") + word, b).select(a, b)
        return result.below(0, signed=True).select(0, result) if "relu" in m.mods else result
    signs = a.as_int() ^ b.as_int() if "xorsign" in m.mods else None
    if "abs" in m.mods:
        a, b = a.intrinsic("llvm.fabs"), b.intrinsic("llvm.fabs")
    # For equal operands the bits are joined: this orders -0 below +0 and changes nothing else.
    joined = a.as_int().binary(equal, b.as_int()).cast("bitcast", a.element)
    result = a.compare("o" + word, b).select(a, a.eq(b).select(joined, b))
    a_nan, b_nan = a.is_nan(), b.is_nan()
    result = a_nan.select(b, b_nan.select(a, result))
    if "NaN" in m.mods:
        result = (a_nan | b_nan).select(math.nan, result)
    if signs is not None:
        signed = result.copy_sign(signs.as_float())
        result = result.is_nan().select(result, signed)
    return result


def shift_left(m: Form, a: Value, b: Value) -> Value:
    return _shift(m, "shl", a, b)


def shift_right(m: Form, a: Value, b: Value) -> Value:
    return _shift(m, "ashr" if m.t.kind == "s" else "lshr", a, b)


def _shift(m: Form, op: str, a: Value, b: Value) -> Value:
    bits = m.t.bits
    if b.text.isdigit():
        amount = int(b.text)
        if amount < bits:
            return a.binary(op, amount)
        if op != "ashr":
            return a.constant(0)
        return a.binary(op, bits - 1)
    too_far = b.reaches(bits)
    limited = too_far.select(bits - 1, b).to(f"i{bits}")
    moved = a.binary(op, limited)
    return moved if op == "ashr" else too_far.select(0, moved)


def funnel(m: Form, a: Value, b: Value, c: Value) -> Value:
    shift = c.above(32).select(32, c) if "clamp" in m.mods else c & 31
    high = b.to("i64") << 32
    both, shift = high | a.to("i64"), shift.to("i64")
    if "l" in m.mods:
        return (both << shift >> 32).to("i32")
    return (both >> shift).to("i32")


def extract(m: Form, a: Value, position: Value, length: Value) -> Value:
    bits, position, length = m.t.bits, position & 255, length & 255
    moved = shift_right(m, a, position)
    clipped = length.above(bits).select(bits, length)
    empty = length.eq(0)
    clipped = empty.select(1, clipped)
    spare = (bits - clipped).to(f"i{bits}")
    kept = (moved << spare).binary("ashr" if m.t.kind == "s" else "lshr", spare)
    return empty.select(0, kept)


def insert(m: Form, a: Value, b: Value, position: Value, length: Value) -> Value:
    position, length = position & 255, length & 255
    ones = shift_left(m, a.constant(1), length) - 1
    mask = shift_left(m, ones, position)
    moved = shift_left(m, a, position)
    return b & ~mask | moved & mask


def leading_zeros(m: Form, a: Value) -> Value:
    return a.intrinsic("llvm.ctlz", flag=False).to("i32")


def population(m: Form, a: Value) -> Value:
    return a.intrinsic("llvm.ctpop").to("i32")


def reverse_bits(m: Form, a: Value) -> Value:
    return a.intrinsic("llvm.bitreverse")


def find_leading(m: Form, a: Value) -> Value:
    if m.t.kind == "s":
        a = a ^ a.ashr(m.t.bits - 1)
    zeros = leading_zeros(m, a)
    none = a.eq(0)
    found = zeros if "shiftamt" in m.mods else m.t.bits - 1 - zeros
    return none.select(-1, found)


def permute(m: Form, a: Value, b: Value, c: Value) -> Value:
    both = b.to("i64") << 32 | a.to("i64")
    c = _selectors(m, c)
    result = a.number("i32", 0)
    for byte in range(4):
        control = c >> 4 * byte
        amount = (control & 7) << 3
        picked = (both >> amount.to("i64")).to("i8")
        sign = picked.ashr(7)
        signed = (control & 8).ne(0)
        byte_value = signed.select(sign, picked).to("i32")
        result = result | byte_value << 8 * byte
    return result


# What the modes of prmt select, for each value of the low two bits of c: one digit a byte, the lowest last.
PERMUTATIONS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543), "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333), "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210), "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}  # fmt: skip


def _selectors(m: Form, c: Value) -> Value:
    table = m.pick(PERMUTATIONS)
    if table is None:
        return c
    result, low = c.number("i32", table[3]), c & 3
    for value in (2, 1, 0):
        result = low.eq(value).select(table[value], result)
    return result


def lop3(m: Form, a: Value, b: Value, c: Value, table: Value) -> Value:
    code, result = int(table.text), a.constant(0)
    for index in range(8):
        if code >> index & 1:
            ab = (a if index & 4 else ~a) & (b if index & 2 else ~b)
            result = result | ab & (c if index & 1 else ~c)
    return result


def test_property(m: Form, a: Value) -> Value:
    magnitude = a.intrinsic("llvm.fabs")
    tiny = 2.0**-126 if a.element == "float" else 2.0**-1022
    below, above = magnitude.below(tiny), magnitude.reaches(tiny)
    tests = {
        "finite": lambda: magnitude.below(math.inf),
        "infinite": lambda: magnitude.eq(math.inf),
        "number": lambda: a.compare("ord", a),
        "notanumber": lambda: a.is_nan(),
        "normal": lambda: above & magnitude.below(math.inf),
        "subnormal": lambda: below & a.compare("one", 0.0),
    }
    return m.pick(tests)()


# ---------------------------------------------------------------- floats


def fused(m: Form, a: Value, b: Value, c: Value) -> Value:
    if m.t.bits != 16:
        return a.intrinsic("llvm.fma", b, c)
    # The product is exact in double, and what the sum loses is kept as an odd last bit: then rounding to 16 bits
    # is as if done at once.
    a, b, c = (v.cast("fpext", "double") for v in (a, b, c))
    return round_to_odd(directed.to_odd(*directed.two_sum(a * b, c)))


def round_to_odd(x: Value) -> Value:
    """double to float so that a later rounding to 16 bits is as if done at once."""
    near = x.cast("fptrunc", "float")
    back = near.cast("fpext", "double")
    bits = near.as_int()
    even = (bits & 1).eq(0)
    inexact = even & back.compare("one", x)
    larger = x.intrinsic("llvm.fabs").above(back.intrinsic("llvm.fabs"))
    step = larger.select(x.number("i32", 1), -1)
    return inexact.select(bits + step, bits).cast("bitcast", "float")


def reciprocal(m: Form, a: Value) -> Value:
    return 1.0 / a


def reciprocal_root(m: Form, a: Value) -> Value:
    return 1.0 / a.intrinsic("llvm.sqrt")


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Horner's rule, highest power first."""
    result = x.constant(coefficients[0])
    for coefficient in coefficients[1:]:
        result = result.intrinsic("llvm.fma", x, coefficient)
    return result


def power_of_two(m: Form, a: Value) -> Value:
    """2**a for float: a Taylor polynomial on [-1/2, 1/2], scaled in two steps so that subnormals come out."""
    if a.element == "double":
        return a.intrinsic("llvm.exp2")
    x = a.above(129.0).select(129.0, a)
    x = x.below(-151.0).select(-151.0, x)
    x = a.is_nan().select(0.0, x)
    whole = x.intrinsic("llvm.rint")
    part = x - whole
    terms = [math.log(2) ** k / math.factorial(k) for k in range(8)]
    n = whole.cast("fptosi", "i32")
    half = n.ashr(1)
    result = polynomial(part, terms[::-1])
    for power in (half, n - half):
        scale = power + 127 << 23
        result = result * scale.as_float()
    return a.is_nan().select(a, result)


def logarithm(m: Form, a: Value) -> Value:
    """log2 of a float: exponent plus an atanh series of the mantissa around 1."""
    small = a.below(2.0**-126)
    scaled = small.select(a * 2.0**24, a)
    bits = scaled.as_int()
    # Shift the window so that the mantissa lies in [sqrt(1/2), sqrt(2)).
    moved = bits - 0x3F3504F3
    exponent = moved.ashr(23)
    mantissa = (bits - (exponent << 23)).as_float()
    s = (mantissa - 1.0) / (mantissa + 1.0)
    series = polynomial(s * s, [2 / math.log(2) / k for k in (11, 9, 7, 5, 3, 1)])
    whole = exponent.cast("sitofp", "float")
    whole = whole - small.select(a.number("float", 24.0), 0.0)
    result = s.intrinsic("llvm.fma", series, whole)
    infinity, nan = math.inf, math.nan
    result = a.eq(infinity).select(infinity, result)
    result = a.eq(0.0).select(-math.inf, result)
    return a.compare("ult", 0.0).select(nan, result)


def tangent(m: Form, a: Value) -> Value:
    """tanh: by exp2 away from 0, by the cubic near it."""
    x = a * (2 / math.log(2))
    far = 1.0 - 2.0 / (power_of_two(m, x) + 1.0)
    near = a * polynomial(a * a, [2 / 15, -1 / 3, 1.0])
    close = a.intrinsic("llvm.fabs").below(0.1)
    return close.select(near, far)


def saturate(a: Value) -> Value:
    return a.above(0.0).select(a.below(1.0).select(a, 1.0), 0.0)


def relu(a: Value) -> Value:
    """Negative values become 0, a NaN the canonical one: every bit set but the sign."""
    bits = element_bits(a.kind)
    nan = a.number(f"i{bits}", (1 << bits - 1) - 1).as_float()
    return a.is_nan().select(nan, a.compare("ole", 0.0).select(0.0, a))


def flush(a: Value) -> Value:
    """Subnormal floats become zero of the same sign."""
    tiny = a.intrinsic("llvm.fabs").below(2.0**-126)
    return tiny.select(a.number("float", 0.0).copy_sign(a), a)
