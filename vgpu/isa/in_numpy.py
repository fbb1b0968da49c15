"""The less obvious PTX operations as functions of NumPy arrays with one element per lane.

Integers arrive with the dtype of their PTX type, f16 and bf16 as float32 (the table rounds results back).
`m` is the form of the instruction: `m.t` and `m.s` are its types, `m.mods` its modifiers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vgpu.isa import directed
from vgpu.isa.types import Form

COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip


def compare(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    word = m.compare
    if word == "num":
        return ~(np.isnan(a) | np.isnan(b))
    if word == "nan":
        return np.isnan(a) | np.isnan(b)
    if m.s.is_float:
        unordered = np.isnan(a) | np.isnan(b)
        if word.endswith("u") and word[:-1] in COMPARE:
            return COMPARE[word[:-1]](a, b) | unordered
        return COMPARE[word](a, b) & ~unordered
    return COMPARE[word](a, b)


def setp(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    result = compare(m, a, b)
    if c is None:
        return result, ~result
    combine = m.pick({"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor})
    return combine(result, c), combine(~result, c)


def set_value(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
    result = setp(m, a, b, c)[0]
    if m.t.is_float:
        return result.astype(np.float32)
    return np.where(result, np.array(-1).astype(m.t.dtype), np.array(0).astype(m.t.dtype))


def multiply_high(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    bits = m.t.bits
    product = a.astype(object) * b.astype(object)
    return ((product >> bits) & ((1 << bits) - 1)).astype(f"u{bits // 8}").view(m.t.dtype)


def widen_multiply(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    wide = m.wide.dtype
    return a.astype(wide) * b.astype(wide)


def divide(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    safe = np.where(b == 0, np.array(1, b.dtype), b)
    if m.t.kind == "s":
        quotient = np.sign(a) * np.sign(safe) * (_magnitude(a) // _magnitude(safe)).astype(a.dtype)
    else:
        quotient = a // safe
    return np.where(b == 0, np.array(-1).astype(b.dtype), quotient)


def remainder(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a - divide(m, a, b) * b


def _magnitude(a: np.ndarray) -> np.ndarray:
    return np.where(a < 0, np.array(0, a.dtype) - a, a).view(f"u{a.dtype.itemsize}")


def minimum(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
    return _extreme(m, a, b, c, np.less)


def maximum(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
    return _extreme(m, a, b, c, np.greater)


def _extreme(
    m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray | None, better: Callable[..., np.ndarray]
) -> np.ndarray:
    if c is not None:
        return _extreme(m, _extreme(m, a, b, None, better), c, None, better)
    if not m.t.is_float:
        result = np.where(better(a, b), a, b)
        return np.maximum(result, 0).astype(a.dtype) if "relu" in m.mods else result
    negative = np.signbit(a) ^ np.signbit(b)
    if "abs" in m.mods:
        a, b = np.abs(a), np.abs(b)
    # -0 counts as smaller than +0; a NaN loses to the other operand except with `.NaN`.
    before = better(a, b) | ((a == b) & better(np.copysign(1.0, a), np.copysign(1.0, b)))
    result = np.where(before, a, b)
    result = np.where(np.isnan(a), b, np.where(np.isnan(b), a, result))
    if "NaN" in m.mods:
        result = np.where(np.isnan(a) | np.isnan(b), np.float32("nan"), result)
    if "xorsign" in m.mods:
        result = np.where(np.isnan(result), result, np.where(negative, -result, result))
    return result.astype(a.dtype)


def shift_left(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b >= m.t.bits, np.array(0, a.dtype), a << np.minimum(b, m.t.bits - 1).astype(a.dtype))


def shift_right(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result = a >> np.minimum(b, m.t.bits - 1).astype(a.dtype)
    return result if m.t.kind == "s" else np.where(b >= m.t.bits, np.array(0, a.dtype), result)


def funnel(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    shift = np.minimum(c, 32) if "clamp" in m.mods else c & 31
    both = (b.astype(np.uint64) << np.uint64(32)) | a
    if "l" in m.mods:
        return ((both << shift.astype(np.uint64)) >> np.uint64(32)).astype(np.uint32)
    return (both >> shift.astype(np.uint64)).astype(np.uint32)


def extract(m: Form, a: np.ndarray, position: np.ndarray, length: np.ndarray) -> np.ndarray:
    position, length = position & 255, length & 255
    moved = shift_right(m, a, position)
    spare = (m.t.bits - np.clip(length, 1, m.t.bits)).astype(a.dtype)
    return np.where(length == 0, np.array(0, a.dtype), (moved << spare) >> spare)


def insert(m: Form, a: np.ndarray, b: np.ndarray, position: np.ndarray, length: np.ndarray) -> np.ndarray:
    position, length = position & 255, length & 255
    bits, one = m.t.bits, np.array(1, a.dtype)
    ones = np.where(length >= bits, ~np.array(0, a.dtype), (one << np.minimum(length, bits - 1).astype(a.dtype)) - one)
    mask = np.where(position >= bits, np.array(0, a.dtype), ones << np.minimum(position, bits - 1).astype(a.dtype))
    moved = a << np.minimum(position, bits - 1).astype(a.dtype)
    return (b & ~mask) | (moved & mask)


def _bit_length(a: np.ndarray) -> np.ndarray:
    return np.array([int(x).bit_length() for x in a.ravel()], np.uint32).reshape(a.shape)


def leading_zeros(m: Form, a: np.ndarray) -> np.ndarray:
    return np.uint32(m.t.bits) - _bit_length(a)


def population(m: Form, a: np.ndarray) -> np.ndarray:
    return np.bitwise_count(a).astype(np.uint32)


def reverse_bits(m: Form, a: np.ndarray) -> np.ndarray:
    bits = m.t.bits
    return np.array([int(f"{int(x):0{bits}b}"[::-1], 2) for x in a.ravel()], a.dtype).reshape(a.shape)


def find_leading(m: Form, a: np.ndarray) -> np.ndarray:
    if m.t.kind == "s":
        a = np.where(a < 0, ~a, a)
    length = _bit_length(a)
    position = length - np.uint32(1)
    if "shiftamt" in m.mods:
        return np.where(length == 0, np.uint32(0xFFFFFFFF), np.uint32(m.t.bits) - length)
    return position


# The byte that each mode of prmt takes for byte i where the low two bits of c are n.
_MODES = {
    "f4e": lambda i, n: (n + i) % 8, "b4e": lambda i, n: (n - i) % 8, "rc8": lambda i, n: n,
    "ecl": lambda i, n: np.maximum(i, n), "ecr": lambda i, n: np.minimum(i, n), "rc16": lambda i, n: n % 2 * 2 + i % 2,
}  # fmt: skip


def permute(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    mode = m.pick(_MODES)
    if mode is not None:
        c = sum(mode(i, c & np.uint32(3)).astype(np.uint32) << np.uint32(4 * i) for i in range(4))
    both = (b.astype(np.uint64) << np.uint64(32)) | a
    result = np.zeros_like(a)
    for byte in range(4):
        control = (c >> np.uint32(4 * byte)) & np.uint32(15)
        picked = ((both >> ((control & 7) * 8).astype(np.uint64)) & np.uint64(0xFF)).astype(np.uint32)
        sign = np.where(picked & 0x80, np.uint32(0xFF), np.uint32(0))
        result |= np.where(control & 8, sign, picked) << np.uint32(8 * byte)
    return result


def lop3(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray, table: np.ndarray) -> np.ndarray:
    result = np.zeros_like(a)
    for index in range(8):
        chosen = (table >> np.array(index, table.dtype)) & 1
        term = (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
        result |= np.where(chosen != 0, term, np.zeros_like(a))
    return result


def test_property(m: Form, a: np.ndarray) -> np.ndarray:
    tiny = np.finfo(a.dtype).tiny
    return m.pick(
        {
            "finite": np.isfinite(a),
            "infinite": np.isinf(a),
            "number": ~np.isnan(a),
            "notanumber": np.isnan(a),
            "normal": np.isfinite(a) & (np.abs(a) >= tiny),
            "subnormal": (np.abs(a) < tiny) & (a != 0),
        }
    )


def in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """A one-argument function evaluated in float64 and rounded once."""

    def meaning(m: Form, a: np.ndarray) -> np.ndarray:
        return function(a.astype(np.float64)).astype(a.dtype)

    return meaning


def fused(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c rounded once: exactly by longdouble for f32 and narrower, by integers for f64."""
    if a.dtype == np.float64:
        return np.array([_fma64(*xyz) for xyz in zip(a.ravel(), b.ravel(), c.ravel(), strict=True)]).reshape(a.shape)
    exact = a.astype(np.float64) * b.astype(np.float64)
    total = exact + c.astype(np.float64)
    # Round to odd where the sum was inexact, so that the second rounding is harmless.
    back = total - exact
    lost = (exact - (total - back)) + (c.astype(np.float64) - back)
    bits = total.view(np.int64)
    towards = np.where((lost > 0) == (total > 0), 1, -1)
    odd = np.where(bits & 1, bits, bits + towards)
    fixed = np.where(np.isfinite(total) & (lost != 0) & (total != 0), odd, bits).view(np.float64)
    return fixed if m.t.bits == 16 else fixed.astype(a.dtype)


def _fma64(a: float, b: float, c: float) -> float:
    from fractions import Fraction
    from math import copysign, inf, isfinite, isinf

    a, b, c = float(a), float(b), float(c)
    if not (isfinite(a) and isfinite(b)):
        return a * b + c
    if not isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        # Terms of opposite sign cancel to +0; two zeros keep the sign they share.
        negative = copysign(1, a) * copysign(1, b) < 0 and copysign(1, c) < 0
        return -0.0 if negative else 0.0
    try:
        result = float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf
    return copysign(result, exact) if result == 0 or isinf(result) else result


INTEGER_ROUNDING = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def convert(m: Form, a: np.ndarray) -> np.ndarray:
    """`cvt`: every pair of integer and float types, with rounding to integers, saturation and directed rounding."""
    source, target = m.s, m.t
    if source.is_float:
        for mode, rounding in INTEGER_ROUNDING.items():
            if mode in m.mods:
                a = rounding(a)
        if target.is_float:
            return _narrow(m, a)
        # Float to integer always clamps to the target's range.
        (low, high), nan = target.limits, np.isnan(a)
        a = np.nan_to_num(a.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
        if not set(m.mods) & set(INTEGER_ROUNDING):
            a = np.trunc(a)
        inside = (a >= low) & (a <= high)
        clamped = np.where(inside, a, 0.0).astype(target.dtype)
        clamped = np.where(a < low, np.array(low, target.dtype), clamped)
        clamped = np.where(a >= float(high), np.array(high, target.dtype), clamped)
        return np.where(nan, np.array(m.integer_of_nan, f"u{target.bits // 8}").view(target.dtype), clamped)
    if target.is_float:
        word = directed.word_of(m)
        if target.bits == 16:
            return _narrow(m, directed.odd_doubles(a))
        dtype = target.dtype
        return a.astype(dtype) if word is None else directed.integers(word, a, dtype)
    if "sat" in m.mods:
        low, high = target.limits
        return np.array([min(max(int(x), low), high) for x in a.ravel()], target.dtype).reshape(a.shape)
    return a.astype(target.dtype)


def _to_tf32(m: Form, a: np.ndarray) -> np.ndarray:
    """The nearest number with 10 bits after the point, halves away from zero (.rna) or to even, or cut (.rz)."""
    with np.errstate(all="ignore"):
        a = a.astype(np.float64)
        exponent = np.maximum(np.frexp(a)[1] - 1, -126)
        steps = np.ldexp(a, 10 - exponent)
        away = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
        whole = np.trunc(steps) if "rz" in m.mods else away if "rna" in m.mods else np.rint(steps)
        result = np.where(np.isfinite(a), np.ldexp(whole, exponent - 10), a)
        largest = np.ldexp(2047.0, 117)
        if "satfinite" in m.mods:
            result = np.where(np.abs(result) > largest, np.copysign(largest, result), result)
        result = np.where(np.isnan(a), np.nan, result).astype(np.float32)
    return relu(result) if "relu" in m.mods else result


def _narrow(m: Form, a: np.ndarray) -> np.ndarray:
    if m.t.name == "tf32":
        return _to_tf32(m, a)
    target, word = m.t, directed.word_of(m)
    if target.bits == 64:
        result = a.astype(np.float64)
    elif target.bits == 32:
        result = _directed(m, a, np.float32)
    elif word is None:
        result = a
    else:
        nearest = to_half(target.name, a)
        wide = from_half(target.name, nearest).astype(np.float64)
        result = from_half(target.name, directed.halves(word, nearest, wide, a.astype(np.float64)))
    if "sat" in m.mods:
        result = np.where(result > 0, np.minimum(result, 1), 0).astype(result.dtype)
    if "satfinite" in m.mods:
        limit = np.float32(from_half(target.name, np.array([0x7BFF if target.name == "f16" else 0x7F7F], np.uint16))[0])
        result = np.where(np.isnan(result), result, np.clip(result, -limit, limit)).astype(result.dtype)
    return relu(result) if "relu" in m.mods else result


def relu(a: np.ndarray) -> np.ndarray:
    """Negative values become 0, a NaN the canonical one: every bit set but the sign."""
    nan = np.uint32(0x7FFFFFFF).view(np.float32)
    return np.where(np.isnan(a), nan, np.where(a <= 0, 0, a)).astype(a.dtype)


def _directed(m: Form, a: np.ndarray, dtype: type[np.floating]) -> np.ndarray:
    """Round `a` to `dtype` towards zero, down or up where the modifiers say so."""
    nearest = a.astype(dtype)
    wide = nearest.astype(np.float64)
    down = np.where(wide > a, np.nextafter(nearest, dtype("-inf")), nearest)
    up = np.where(wide < a, np.nextafter(nearest, dtype("inf")), nearest)
    return m.pick({"rm": down, "rp": up, "rz": np.where(a < 0, up, down)}, nearest).astype(dtype)


def to_half(kind: str, a: np.ndarray) -> np.ndarray:
    """Round float32 or float64 to the bits of f16 or bf16 (uint16), to nearest even."""
    if kind == "f16":
        return a.astype(np.float16).view(np.uint16)
    single = a.astype(np.float32)
    if a.dtype == np.float64:  # round to odd first, so that rounding twice is the same as once
        bits = single.view(np.int32)
        wide = single.astype(np.float64)
        step = np.where(np.abs(wide) < np.abs(a), 1, -1)
        inexact = np.isfinite(a) & (wide != a) & ((bits & 1) == 0) & np.isfinite(wide)
        single = np.where(inexact, bits + step, bits).astype(np.int32).view(np.float32)
    bits = single.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)
    return np.where(np.isnan(single), np.uint16(0x7FFF), rounded)


def from_half(kind: str, bits: np.ndarray) -> np.ndarray:
    """The float32 values of f16 or bf16 bit patterns (uint16)."""
    if kind == "f16":
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
