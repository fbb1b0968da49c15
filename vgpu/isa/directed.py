"""Rounding towards zero, down and up (`.rz`, `.rm`, `.rp`): in NumPy by exact fractions, in LLVM by the CPU.

The runtime has a function of each operation, which asks the CPU for the mode. Conversions take the nearest result and
step to its neighbour where the sign of the error says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from vgpu.ir import Value
from vgpu.isa.types import Form

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


def odd_doubles(a: np.ndarray) -> np.ndarray:
    """Integers of any width as doubles that round to a narrower type, in any mode, as the integers would."""
    return np.array([_odd_double(int(x)) for x in a])


def _odd_double(x: int) -> float:
    nearest = float(x)
    if int(nearest) == x or math.frexp(nearest)[0] * 2**53 % 2:
        return nearest
    return math.nextafter(nearest, math.inf if nearest < x else -math.inf)


def halves(word: str, nearest: np.ndarray, back: np.ndarray, a: np.ndarray) -> np.ndarray:
    """16-bit patterns: `nearest`, whose values are `back`, moved by one where the directed rounding of `a` differs."""
    magnitude = np.abs(back) > np.abs(a), np.abs(back) < np.abs(a)
    negative = (nearest >> np.uint16(15)) != 0
    outward = {"rz": False, "rm": negative, "rp": ~negative}[word]
    step = np.where(magnitude[0] & ~np.asarray(outward), -1, np.where(magnitude[1] & outward, 1, 0))
    return (nearest.astype(np.int32) + step).astype(np.uint16)


# ---------------------------------------------------------------- LLVM

PREFIX = "wb_directed_"
OPERATIONS = (*EXACT, "sqrt")  # the runtime has a function of each, mode and size


def llvm_directed(name: str, nearest: Callable[..., Any]) -> Callable[..., Any]:
    """A function with directed rounding, from one that rounds to nearest."""

    def meaning(m: Form, *values: Value) -> Value:
        word = word_of(m)
        if word is None:
            return nearest(m, *values)
        first, *others = values
        return first.lanewise(f"{PREFIX}{name}_{word}_{m.t.bits}", *others, result=first.element)

    return meaning


def two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """a + b rounded to nearest, and the exact rounding error."""
    total = a + b
    back = total - a
    lost = a - (total - back) + (b - back)
    return total, lost


def to_odd(total: Value, lost: Value) -> Value:
    """A double that rounds to a narrower type, in any mode, as the exact sum `total + lost` would."""
    bits = total.as_int()
    even = (bits & 1).eq(0)
    inexact = even & lost.compare("one", 0.0)
    inward = (lost.as_int() ^ bits).below(0, signed=True)
    step = inward.select(total.number("i64", -1), 1)
    return inexact.select(bits + step, bits).as_float()


def step_double(word: str, total: Value, lost: Value) -> Value:
    """`total`, or the double next to it where the sign of `lost` (exact minus nearest) says so."""
    bits = total.as_int()
    above, below = lost.below(0.0), lost.above(0.0)
    return (bits + _step(word, bits, above, below)).as_float()


def narrow(word: str, x: Value, to: str) -> Value:
    """Round `x` to the narrower LLVM type `to`."""
    near = x.cast("fptrunc", to)
    back, bits = near.cast("fpext", x.element), near.as_int()
    above, below = back.above(x), back.below(x)
    return (bits + _step(word, bits, above, below)).as_float()


def _step(word: str, bits: Value, above: Value, below: Value) -> Value:
    """The increment of a float's bits; +1 is one unit away from zero."""
    negative = bits.below(0, signed=True)
    one, none, back = (bits.constant(value) for value in (1, 0, -1))
    down = above.select(negative.select(one, back), none)
    up = below.select(negative.select(back, one), none)
    return {"rm": down, "rp": up}[word] if word != "rz" else negative.select(up, down)


def narrow_brain(word: str, x: Value) -> Value:
    """Round a float to bfloat16: cut the low half, then move away from zero where the mode says so."""
    bits = x.as_int()
    kept = bits & 0xFFFF0000
    outward = {"rz": None, "rm": "slt", "rp": "sge"}[word]
    if outward is not None:
        cut = kept.ne(bits)
        further = cut & bits.compare(outward, 0)
        kept = further.select(kept + 0x10000, kept)
    return x.is_nan().select(x, kept.as_float())


def split_integer(a: Value, signed: bool) -> tuple[Value, Value]:
    """A 64-bit integer as the nearest double and its rounding error."""
    high = a.binary("ashr" if signed else "lshr", 32).cast("sitofp" if signed else "uitofp", "double")
    low = (a & 0xFFFFFFFF).cast("uitofp", "double")
    return two_sum(high * 2.0**32, low)
