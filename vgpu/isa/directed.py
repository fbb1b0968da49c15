# mypy: disallow-untyped-defs
"""Rounding towards zero, down and up (`.rz`, `.rm`, `.rp`): in NumPy by exact fractions, in LLVM by error terms.

CPUs round to nearest unless a mode is switched, which vector code can't do lane by lane. So the nearest result is
computed first, then its error; the sign of the error decides whether to take the neighbour instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from vgpu.isa.types import Emitter, Form, Value

WORDS = ("rz", "rm", "rp")


def word_of(m: Form) -> str | None:
    """The directed rounding mode of an instruction."""
    return m.pick({word: word for word in WORDS})


# ---------------------------------------------------------------- NumPy: one element at a time, exactly

EXACT: dict[str, Callable[..., Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c,
    "div": lambda a, b: a / b,
    "rcp": lambda a: 1 / a,
}


def neighbour(word: str, nearest: Any, side: int) -> Any:
    """`nearest`, or the float next to it, when nearest minus the exact value has the sign `side`."""
    kind = type(nearest)
    down, up = side > 0 and word != "rp", side < 0 and word != "rm"
    if word == "rz":
        down, up = down and nearest > 0, up and nearest < 0
    if down or up:
        return np.nextafter(nearest, kind(-np.inf if down else np.inf))
    return nearest


def numpy_directed(name: str, nearest: Callable[..., Any]) -> Callable[..., Any]:
    """A function with directed rounding, from one that rounds to nearest."""

    def meaning(m: Form, *values: np.ndarray) -> np.ndarray:
        result, word = nearest(m, *values), word_of(m)
        if word is None:
            return result
        lanes = zip(result, *values, strict=True)
        return np.array([_one(name, word, r, operands) for r, *operands in lanes], result.dtype)

    return meaning


def _one(name: str, word: str, result: Any, operands: Sequence[Any]) -> Any:
    """One element: `result`, rounded to nearest, or its neighbour."""
    if np.isnan(result) or not np.all(np.isfinite(operands)):
        return result
    if name in ("div", "rcp") and operands[-1] == 0:
        return result
    exact = [Fraction(float(operand)) for operand in operands]
    if name == "sqrt":
        root = Fraction(float(result))
        return neighbour(word, result, (root * root > exact[0]) - (root * root < exact[0]))
    value = EXACT[name](*exact)
    if value == 0 and name in ("add", "sub", "fma"):
        return _zero(name, word, result, operands)
    if np.isinf(result):
        return neighbour(word, result, 1 if result > 0 else -1)
    return neighbour(word, result, (Fraction(float(result)) > value) - (Fraction(float(result)) < value))


def _zero(name: str, word: str, result: Any, operands: Sequence[Any]) -> Any:
    """A sum of exactly 0 is -0 when rounding down, unless both terms are +0."""
    a, b = operands[:2]
    first = a * b if name == "fma" else a
    second = operands[2] if name == "fma" else -b if name == "sub" else b
    if word == "rm" and (np.signbit(first) or np.signbit(second)):
        return type(result)(-0.0)
    return result


def integers(word: str, a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Integers of any width as floats of `dtype`."""
    nearest = [dtype.type(value) for value in a]
    return np.array(
        [neighbour(word, f, (int(f) > int(x)) - (int(f) < int(x))) for f, x in zip(nearest, a, strict=True)], dtype
    )


def halves(word: str, nearest: np.ndarray, back: np.ndarray, a: np.ndarray) -> np.ndarray:
    """16-bit patterns: `nearest`, whose values are `back`, moved by one where the directed rounding of `a` differs."""
    magnitude = np.abs(back) > np.abs(a), np.abs(back) < np.abs(a)
    negative = (nearest >> np.uint16(15)) != 0
    outward = {"rz": False, "rm": negative, "rp": ~negative}[word]
    step = np.where(magnitude[0] & ~np.asarray(outward), -1, np.where(magnitude[1] & outward, 1, 0))
    return (nearest.astype(np.int32) + step).astype(np.uint16)


# ---------------------------------------------------------------- LLVM: error-free transformations

# Of doubles these have no error term that never overflows or underflows: the runtime switches the CPU's mode for them.
BY_MODE, PREFIX = ("fma", "div", "rcp", "sqrt"), "wb_directed_"


def two_sum(e: Emitter, a: Value, b: Value) -> tuple[Value, Value]:
    """a + b rounded to nearest, and the exact rounding error."""
    total = e.bin("fadd", a, b)
    back = e.bin("fsub", total, a)
    lost = e.bin("fadd", e.bin("fsub", a, e.bin("fsub", total, back)), e.bin("fsub", b, back))
    return total, lost


def _product(e: Emitter, a: Value, b: Value) -> tuple[Value, Value]:
    product = e.bin("fmul", a, b)
    return product, e.intrinsic("llvm.fma", a, b, e.neg(product))


def _quotient(e: Emitter, a: Value, b: Value) -> tuple[Value, Value]:
    quotient = e.bin("fdiv", a, b)
    rest = e.intrinsic("llvm.fma", e.neg(quotient), b, a)
    # The quotient is too small when what is left has the sign of the divisor.
    return quotient, e.bin("fmul", rest, e.copy_sign(e.const(b.type, 1.0), b))


def _root(e: Emitter, a: Value) -> tuple[Value, Value]:
    root = e.intrinsic("llvm.sqrt", a)
    return root, e.intrinsic("llvm.fma", e.neg(root), root, a)


# Nearest result and the sign of exact minus nearest, for doubles; for those that hold floats exactly so.
WITH_ERROR: dict[str, Callable[..., Any]] = {
    "add": two_sum,
    "sub": lambda e, a, b: two_sum(e, a, e.neg(b)),
    "mul": _product,
    "fma": lambda e, a, b, c: two_sum(e, e.bin("fmul", a, b), c),
    "div": _quotient,
    "rcp": lambda e, a: _quotient(e, e.const(a.type, 1.0), a),
    "sqrt": _root,
}


def to_odd(e: Emitter, total: Value, lost: Value) -> Value:
    """A double that rounds to a narrower type, in any mode, as the exact sum `total + lost` would."""
    bits = e.bits(total)
    even = e.icmp("eq", e.bin("and", bits, e.const("i64", 1)), e.const("i64", 0))
    inexact = e.bin("and", even, e.fcmp("one", lost, e.const("double", 0.0)))
    inward = e.icmp("slt", e.bin("xor", e.bits(lost), bits), e.const("i64", 0))
    step = e.select(inward, e.const("i64", -1), e.const("i64", 1))
    return e.as_float(e.select(inexact, e.bin("add", bits, step), bits))


def llvm_directed(name: str, nearest: Callable[..., Any]) -> Callable[..., Any]:
    """A function with directed rounding, from one that rounds to nearest."""

    def meaning(e: Emitter, m: Form, *values: Value) -> Value:
        word = word_of(m)
        if word is None:
            return nearest(e, m, *values)
        if m.t.bits == 64 and name in BY_MODE:
            return e.lanes(f"{PREFIX}{name}_{word}", *values, result="double")
        wide = [e.cast("fpext", v, "double") for v in values]
        total, lost = WITH_ERROR[name](e, *wide)
        if m.t.bits == 32:
            result = narrow(e, word, to_odd(e, total, lost), "float")
        else:
            result = step_double(e, word, total, _at_the_limits(e, name, wide, total, lost))
        if word == "rm" and name in ("add", "sub", "fma"):
            result = _signed_zero(e, name, wide, total, result)
        return result

    return meaning


def _signed_zero(e: Emitter, name: str, wide: Sequence[Value], total: Value, result: Value) -> Value:
    a, b = wide[:2]
    first = e.bin("fmul", a, b) if name == "fma" else a
    second = wide[2] if name == "fma" else e.neg(b) if name == "sub" else b
    minus = e.bin("or", e.bits(first), e.bits(second))
    minus = e.bin("and", minus, e.const("i64", 1 << 63))
    zero = e.cast("fptrunc", e.cast("bitcast", minus, "double"), result.type)
    return e.select(e.fcmp("oeq", total, e.const("double", 0.0)), zero, result)


def _at_the_limits(e: Emitter, name: str, wide: Sequence[Value], total: Value, lost: Value) -> Value:
    """The error of a double operation where the error term itself overflows or underflows."""
    a, b = wide
    infinity = e.const("double", math.inf)
    magnitude = lambda v: e.intrinsic("llvm.fabs", v)
    finite = e.bin("and", e.fcmp("olt", magnitude(a), infinity), e.fcmp("olt", magnitude(b), infinity))
    over = e.bin("and", e.fcmp("oeq", magnitude(total), infinity), finite)
    lost = e.select(over, e.neg(total), lost)
    if name != "mul":
        return lost
    scale = e.const("double", 2.0**600)
    scaled = e.intrinsic("llvm.fma", e.bin("fmul", a, scale), b, e.neg(e.bin("fmul", total, scale)))
    lost = e.select(e.fcmp("olt", magnitude(total), e.const("double", 2.0**-900)), scaled, lost)
    zero = e.const("double", 0.0)
    vanished = e.bin("and", e.fcmp("one", a, zero), e.fcmp("one", b, zero))
    vanished = e.bin("and", vanished, e.fcmp("oeq", total, zero))
    return e.select(vanished, e.copy_sign(e.const("double", 1.0), total), lost)


def step_double(e: Emitter, word: str, total: Value, lost: Value) -> Value:
    """`total`, or the double next to it where the sign of `lost` (exact minus nearest) says so."""
    bits, zero = e.bits(total), e.const("double", 0.0)
    above, below = e.fcmp("olt", lost, zero), e.fcmp("ogt", lost, zero)
    return e.as_float(e.bin("add", bits, _step(e, word, bits, above, below)))


def narrow(e: Emitter, word: str, x: Value, to: str) -> Value:
    """Round `x` to the narrower LLVM type `to`."""
    near = e.cast("fptrunc", x, to)
    back, bits = e.cast("fpext", near, x.type), e.bits(near)
    above, below = e.fcmp("ogt", back, x), e.fcmp("olt", back, x)
    return e.as_float(e.bin("add", bits, _step(e, word, bits, above, below)))


def _step(e: Emitter, word: str, bits: Value, above: Value, below: Value) -> Value:
    """The increment of a float's bits; +1 is one unit away from zero."""
    negative = e.icmp("slt", bits, e.const(bits.type, 0))
    one, none, back = (e.const(bits.type, value) for value in (1, 0, -1))
    down = e.select(above, e.select(negative, one, back), none)
    up = e.select(below, e.select(negative, back, one), none)
    return {"rm": down, "rp": up}[word] if word != "rz" else e.select(negative, up, down)


def narrow_brain(e: Emitter, word: str, x: Value) -> Value:
    """Round a float to bfloat16: cut the low half, then move away from zero where the mode says so."""
    bits = e.bits(x)
    kept = e.bin("and", bits, e.const("i32", 0xFFFF0000))
    outward = {"rz": None, "rm": "slt", "rp": "sge"}[word]
    if outward is not None:
        cut = e.icmp("ne", kept, bits)
        further = e.bin("and", cut, e.icmp(outward, bits, e.const("i32", 0)))
        kept = e.select(further, e.bin("add", kept, e.const("i32", 0x10000)), kept)
    return e.select(e.fcmp("uno", x, x), x, e.as_float(kept))


def split_integer(e: Emitter, a: Value, signed: bool) -> tuple[Value, Value]:
    """A 64-bit integer as the nearest double and its rounding error."""
    high = e.cast(
        "sitofp" if signed else "uitofp", e.bin("ashr" if signed else "lshr", a, e.const("i64", 32)), "double"
    )
    low = e.cast("uitofp", e.bin("and", a, e.const("i64", 0xFFFFFFFF)), "double")
    return two_sum(e, e.bin("fmul", high, e.const("double", 2.0**32)), low)
