# mypy: disallow-untyped-defs
"""The less obvious PTX operations in LLVM IR; `e` is the `Emitter`, `m` the instruction's form.

Integers arrive as iN, f32 and f64 as float and double, f16 and bf16 as float (the lowering rounds results back).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vgpu.isa import directed
from vgpu.isa.types import FLOAT_COMPARE, INTEGER_COMPARE, Emitter, Form, Value


def compare(e: Emitter, m: Form, a: Value, b: Value) -> Value:
    if m.s.is_float:
        return e.fcmp(FLOAT_COMPARE[m.compare], a, b)
    return e.icmp(INTEGER_COMPARE[m.compare].replace("?", "s" if m.s.kind == "s" else "u"), a, b)


def setp(e: Emitter, m: Form, a: Value, b: Value, c: Value | None = None) -> tuple[Value, Value]:
    result = compare(e, m, a, b)
    if c is None:
        return result, e.flip(result)
    word = m.pick({"and": "and", "or": "or", "xor": "xor"})
    return e.bin(word, result, c), e.bin(word, e.flip(result), c)


def set_value(e: Emitter, m: Form, a: Value, b: Value, c: Value | None = None) -> Value:
    result = setp(e, m, a, b, c)[0]
    if m.t.is_float:
        return e.cast("uitofp", result, "float")
    return e.cast("sext", result, f"i{m.t.bits}")


def widen_multiply(e: Emitter, m: Form, a: Value, b: Value) -> Value:
    signed, bits = m.t.kind == "s", 2 * m.t.bits
    return e.bin("mul", e.resize(a, bits, signed), e.resize(b, bits, signed))


def multiply_high(e: Emitter, m: Form, a: Value, b: Value) -> Value:
    wide = widen_multiply(e, m, a, b)
    return e.resize(e.bin("lshr", wide, e.const(wide.type, m.t.bits)), m.t.bits)


def divide(e: Emitter, m: Form, a: Value, b: Value) -> Value:
    """Integer division that cannot trap: x/0 gives all ones and MIN/-1 gives MIN."""
    signed, zero = m.t.kind == "s", e.icmp("eq", b, e.const(b.type, 0))
    one = e.const(b.type, 1)
    safe = e.select(zero, one, b)
    if m.t.bits <= 32:
        # float64 division of 32-bit integers, truncated, is exact; CPUs have it for vectors.
        x = e.cast("sitofp" if signed else "uitofp", a, "double")
        y = e.cast("sitofp" if signed else "uitofp", safe, "double")
        quotient = e.resize(e.cast("fptosi", e.bin("fdiv", x, y), "i64"), m.t.bits)
    elif a.vector or b.vector:
        quotient = e.lanes("wb_div_s64" if signed else "wb_div_u64", a, safe, result="i64")
    else:
        if signed:
            low = e.icmp("eq", a, e.const("i64", 1 << 63))
            trap = e.bin("and", low, e.icmp("eq", safe, e.const("i64", -1)))
            safe = e.select(trap, one, safe)
        quotient = e.bin("sdiv" if signed else "udiv", a, safe)
    return e.select(zero, e.const(b.type, -1), quotient)


def remainder(e: Emitter, m: Form, a: Value, b: Value) -> Value:
    return e.bin("sub", a, e.bin("mul", divide(e, m, a, b), b))


def minimum(e: Emitter, m: Form, a: Value, b: Value, c: Value | None = None) -> Value:
    return _extreme(e, m, a, b, c, "lt", "or")


def maximum(e: Emitter, m: Form, a: Value, b: Value, c: Value | None = None) -> Value:
    return _extreme(e, m, a, b, c, "gt", "and")


def _extreme(e: Emitter, m: Form, a: Value, b: Value, c: Value | None, word: str, equal: str) -> Value:
    if c is not None:
        rest = _extreme(e, m, a, b, None, word, equal)
        return _extreme(e, m, rest, c, None, word, equal)
    if not m.t.is_float:
        result = e.select(e.icmp(("s" if m.t.kind == "s" else "u") + word, a, b), a, b)
        return (
            e.select(e.icmp("slt", result, e.const(a.type, 0)), e.const(a.type, 0), result)
            if "relu" in m.mods
            else result
        )
    signs = e.bin("xor", e.bits(a), e.bits(b)) if "xorsign" in m.mods else None
    if "abs" in m.mods:
        a, b = e.intrinsic("llvm.fabs", a), e.intrinsic("llvm.fabs", b)
    # For equal operands the bits are joined: this orders -0 below +0 and changes nothing else.
    joined = e.cast("bitcast", e.bin(equal, e.bits(a), e.bits(b)), a.type)
    result = e.select(e.fcmp("o" + word, a, b), a, e.select(e.fcmp("oeq", a, b), joined, b))
    a_nan, b_nan = e.fcmp("uno", a, a), e.fcmp("uno", b, b)
    result = e.select(a_nan, b, e.select(b_nan, a, result))
    if "NaN" in m.mods:
        result = e.select(e.bin("or", a_nan, b_nan), e.const(a.type, math.nan), result)
    if signs is not None:
        signed = e.copy_sign(result, e.as_float(signs))
        result = e.select(e.fcmp("uno", result, result), result, signed)
    return result


def shift_left(e: Emitter, m: Form, a: Value, b: Value) -> Value:
    return _shift(e, m, "shl", a, b)


def shift_right(e: Emitter, m: Form, a: Value, b: Value) -> Value:
    return _shift(e, m, "ashr" if m.t.kind == "s" else "lshr", a, b)


def _shift(e: Emitter, m: Form, op: str, a: Value, b: Value) -> Value:
    bits = m.t.bits
    if b.text.isdigit():
        amount = int(b.text)
        if amount < bits:
            return e.bin(op, a, e.const(a.type, amount))
        if op != "ashr":
            return e.const(a.type, 0)
        return e.bin(op, a, e.const(a.type, bits - 1))
    too_far = e.icmp("uge", b, e.const(b.type, bits))
    limited = e.resize(e.select(too_far, e.const(b.type, bits - 1), b), bits)
    moved = e.bin(op, a, limited)
    return moved if op == "ashr" else e.select(too_far, e.const(a.type, 0), moved)


def funnel(e: Emitter, m: Form, a: Value, b: Value, c: Value) -> Value:
    if "clamp" in m.mods:
        shift = e.select(e.icmp("ugt", c, e.const("i32", 32)), e.const("i32", 32), c)
    else:
        shift = e.bin("and", c, e.const("i32", 31))
    high = e.bin("shl", e.resize(b, 64), e.const("i64", 32))
    both, shift = e.bin("or", high, e.resize(a, 64)), e.resize(shift, 64)
    if "l" in m.mods:
        return e.resize(e.bin("lshr", e.bin("shl", both, shift), e.const("i64", 32)), 32)
    return e.resize(e.bin("lshr", both, shift), 32)


def extract(e: Emitter, m: Form, a: Value, position: Value, length: Value) -> Value:
    byte, bits = e.const("i32", 255), m.t.bits
    position, length = e.bin("and", position, byte), e.bin("and", length, byte)
    moved = shift_right(e, m, a, position)
    clipped = e.select(e.icmp("ugt", length, e.const("i32", bits)), e.const("i32", bits), length)
    empty = e.icmp("eq", length, e.const("i32", 0))
    clipped = e.select(empty, e.const("i32", 1), clipped)
    spare = e.resize(e.bin("sub", e.const("i32", bits), clipped), bits)
    kept = e.bin("ashr" if m.t.kind == "s" else "lshr", e.bin("shl", moved, spare), spare)
    return e.select(empty, e.const(a.type, 0), kept)


def insert(e: Emitter, m: Form, a: Value, b: Value, position: Value, length: Value) -> Value:
    byte = e.const("i32", 255)
    position, length = e.bin("and", position, byte), e.bin("and", length, byte)
    ones = e.bin("sub", shift_left(e, m, e.const(a.type, 1), length), e.const(a.type, 1))
    mask = shift_left(e, m, ones, position)
    moved = shift_left(e, m, a, position)
    return e.bin("or", e.bin("and", b, e.flip(mask)), e.bin("and", moved, mask))


def leading_zeros(e: Emitter, m: Form, a: Value) -> Value:
    return e.resize(e.intrinsic("llvm.ctlz", a, tail=", i1 false"), 32)


def population(e: Emitter, m: Form, a: Value) -> Value:
    return e.resize(e.intrinsic("llvm.ctpop", a), 32)


def reverse_bits(e: Emitter, m: Form, a: Value) -> Value:
    return e.intrinsic("llvm.bitreverse", a)


def find_leading(e: Emitter, m: Form, a: Value) -> Value:
    if m.t.kind == "s":
        a = e.bin("xor", a, e.bin("ashr", a, e.const(a.type, m.t.bits - 1)))
    zeros = leading_zeros(e, m, a)
    none = e.icmp("eq", a, e.const(a.type, 0))
    found = zeros if "shiftamt" in m.mods else e.bin("sub", e.const("i32", m.t.bits - 1), zeros)
    return e.select(none, e.const("i32", -1), found)


def permute(e: Emitter, m: Form, a: Value, b: Value, c: Value) -> Value:
    both = e.bin("or", e.bin("shl", e.resize(b, 64), e.const("i64", 32)), e.resize(a, 64))
    c = _selectors(e, m, c)
    result = e.const("i32", 0)
    for byte in range(4):
        control = e.bin("lshr", c, e.const("i32", 4 * byte))
        amount = e.bin("shl", e.bin("and", control, e.const("i32", 7)), e.const("i32", 3))
        picked = e.resize(e.bin("lshr", both, e.resize(amount, 64)), 8)
        sign = e.bin("ashr", picked, e.const("i8", 7))
        signed = e.icmp("ne", e.bin("and", control, e.const("i32", 8)), e.const("i32", 0))
        byte_value = e.resize(e.select(signed, sign, picked), 32)
        result = e.bin("or", result, e.bin("shl", byte_value, e.const("i32", 8 * byte)))
    return result


# What the modes of prmt select, for each value of the low two bits of c: one digit a byte, the lowest last.
PERMUTATIONS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543), "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333), "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210), "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}  # fmt: skip


def _selectors(e: Emitter, m: Form, c: Value) -> Value:
    table = m.pick(PERMUTATIONS)
    if table is None:
        return c
    result, low = e.const("i32", table[3]), e.bin("and", c, e.const("i32", 3))
    for value in (2, 1, 0):
        result = e.select(e.icmp("eq", low, e.const("i32", value)), e.const("i32", table[value]), result)
    return result


def lop3(e: Emitter, m: Form, a: Value, b: Value, c: Value, table: Value) -> Value:
    code, result = int(table.text), e.const(a.type, 0)
    for index in range(8):
        if code >> index & 1:
            ab = e.bin("and", a if index & 4 else e.flip(a), b if index & 2 else e.flip(b))
            result = e.bin("or", result, e.bin("and", ab, c if index & 1 else e.flip(c)))
    return result


def test_property(e: Emitter, m: Form, a: Value) -> Value:
    magnitude = e.intrinsic("llvm.fabs", a)
    infinity = e.const(a.type, math.inf)
    tiny = e.const(a.type, 2.0**-126 if a.type == "float" else 2.0**-1022)
    below, above = e.fcmp("olt", magnitude, tiny), e.fcmp("oge", magnitude, tiny)
    tests = {
        "finite": lambda: e.fcmp("olt", magnitude, infinity),
        "infinite": lambda: e.fcmp("oeq", magnitude, infinity),
        "number": lambda: e.fcmp("ord", a, a),
        "notanumber": lambda: e.fcmp("uno", a, a),
        "normal": lambda: e.bin("and", above, e.fcmp("olt", magnitude, infinity)),
        "subnormal": lambda: e.bin("and", below, e.fcmp("one", a, e.const(a.type, 0.0))),
    }
    return m.pick(tests)()


# ---------------------------------------------------------------- floats


def fused(e: Emitter, m: Form, a: Value, b: Value, c: Value) -> Value:
    if m.t.bits != 16:
        return e.intrinsic("llvm.fma", a, b, c)
    # The product is exact in double, and what the sum loses is kept as an odd last bit: then rounding to 16 bits
    # is as if done at once.
    a, b, c = (e.cast("fpext", v, "double") for v in (a, b, c))
    return round_to_odd(e, directed.to_odd(e, *directed.two_sum(e, e.bin("fmul", a, b), c)))


def round_to_odd(e: Emitter, x: Value) -> Value:
    """double to float so that a later rounding to 16 bits is as if done at once."""
    near = e.cast("fptrunc", x, "float")
    back = e.cast("fpext", near, "double")
    bits = e.bits(near)
    even = e.icmp("eq", e.bin("and", bits, e.const("i32", 1)), e.const("i32", 0))
    inexact = e.bin("and", even, e.fcmp("one", back, x))
    larger = e.fcmp("ogt", e.intrinsic("llvm.fabs", x), e.intrinsic("llvm.fabs", back))
    step = e.select(larger, e.const("i32", 1), e.const("i32", -1))
    return e.cast("bitcast", e.select(inexact, e.bin("add", bits, step), bits), "float")


def reciprocal(e: Emitter, m: Form, a: Value) -> Value:
    return e.bin("fdiv", e.const(a.type, 1.0), a)


def reciprocal_root(e: Emitter, m: Form, a: Value) -> Value:
    return e.bin("fdiv", e.const(a.type, 1.0), e.intrinsic("llvm.sqrt", a))


def polynomial(e: Emitter, x: Value, coefficients: Sequence[float]) -> Value:
    """Horner's rule, highest power first."""
    result = e.const(x.type, coefficients[0])
    for coefficient in coefficients[1:]:
        result = e.intrinsic("llvm.fma", result, x, e.const(x.type, coefficient))
    return result


def power_of_two(e: Emitter, m: Form, a: Value) -> Value:
    """2**a for float: a Taylor polynomial on [-1/2, 1/2], scaled in two steps so that subnormals come out."""
    if a.type == "double":
        return e.intrinsic("llvm.exp2", a)
    high, low = e.const("float", 129.0), e.const("float", -151.0)
    x = e.select(e.fcmp("ogt", a, high), high, a)
    x = e.select(e.fcmp("olt", x, low), low, x)
    x = e.select(e.fcmp("uno", a, a), e.const("float", 0.0), x)
    whole = e.intrinsic("llvm.rint", x)
    part = e.bin("fsub", x, whole)
    terms = [math.log(2) ** k / math.factorial(k) for k in range(8)]
    n = e.cast("fptosi", whole, "i32")
    half = e.bin("ashr", n, e.const("i32", 1))
    result = polynomial(e, part, terms[::-1])
    for power in (half, e.bin("sub", n, half)):
        scale = e.bin("shl", e.bin("add", power, e.const("i32", 127)), e.const("i32", 23))
        result = e.bin("fmul", result, e.as_float(scale))
    return e.select(e.fcmp("uno", a, a), a, result)


def logarithm(e: Emitter, m: Form, a: Value) -> Value:
    """log2 of a float: exponent plus an atanh series of the mantissa around 1."""
    small = e.fcmp("olt", a, e.const("float", 2.0**-126))
    scaled = e.select(small, e.bin("fmul", a, e.const("float", 2.0**24)), a)
    bits = e.bits(scaled)
    # Shift the window so that the mantissa lies in [sqrt(1/2), sqrt(2)).
    moved = e.bin("sub", bits, e.const("i32", 0x3F3504F3))
    exponent = e.bin("ashr", moved, e.const("i32", 23))
    mantissa = e.as_float(e.bin("sub", bits, e.bin("shl", exponent, e.const("i32", 23))))
    one = e.const("float", 1.0)
    s = e.bin("fdiv", e.bin("fsub", mantissa, one), e.bin("fadd", mantissa, one))
    series = polynomial(e, e.bin("fmul", s, s), [2 / math.log(2) / k for k in (11, 9, 7, 5, 3, 1)])
    whole = e.cast("sitofp", exponent, "float")
    whole = e.bin("fsub", whole, e.select(small, e.const("float", 24.0), e.const("float", 0.0)))
    result = e.intrinsic("llvm.fma", s, series, whole)
    infinity, nan = e.const("float", math.inf), e.const("float", math.nan)
    result = e.select(e.fcmp("oeq", a, infinity), infinity, result)
    result = e.select(e.fcmp("oeq", a, e.const("float", 0.0)), e.const("float", -math.inf), result)
    return e.select(e.fcmp("ult", a, e.const("float", 0.0)), nan, result)


def tangent(e: Emitter, m: Form, a: Value) -> Value:
    """tanh: by exp2 away from 0, by the cubic near it."""
    x = e.bin("fmul", a, e.const("float", 2 / math.log(2)))
    one, two = e.const("float", 1.0), e.const("float", 2.0)
    far = e.bin("fsub", one, e.bin("fdiv", two, e.bin("fadd", power_of_two(e, m, x), one)))
    near = e.bin("fmul", a, polynomial(e, e.bin("fmul", a, a), [2 / 15, -1 / 3, 1.0]))
    close = e.fcmp("olt", e.intrinsic("llvm.fabs", a), e.const("float", 0.1))
    return e.select(close, near, far)


def saturate(e: Emitter, a: Value) -> Value:
    zero, one = e.const(a.type, 0.0), e.const(a.type, 1.0)
    return e.select(e.fcmp("ogt", a, zero), e.select(e.fcmp("olt", a, one), a, one), zero)


def relu(e: Emitter, a: Value) -> Value:
    """Negative values become 0, a NaN the canonical one: every bit set but the sign."""
    zero = e.const(a.type, 0.0)
    nan = e.as_float(e.bin("lshr", e.const(e.bits(zero).type, -1), e.const(e.bits(zero).type, 1)))
    return e.select(e.fcmp("uno", a, a), nan, e.select(e.fcmp("ole", a, zero), zero, a))


def flush(e: Emitter, a: Value) -> Value:
    """Subnormal floats become zero of the same sign."""
    tiny = e.fcmp("olt", e.intrinsic("llvm.fabs", a), e.const("float", 2.0**-126))
    return e.select(tiny, e.copy_sign(e.const("float", 0.0), a), a)
