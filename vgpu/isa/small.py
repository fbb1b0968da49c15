"""Floats of 8, 6 and 4 bits: decoding, and encoding by `cvt`, in NumPy by tables and in LLVM by bits.

Sources: "OCP 8-bit Floating Point Specification" (e4m3, e5m2), "OCP Microscaling Formats Specification" (e2m1, e2m3,
e3m2, ue8m0), and "PTX ISA", section on cvt: values beyond the largest become the largest, to nearest even.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vgpu.ir import Value


@dataclass(frozen=True)
class Small:
    """A format: bits of exponent and mantissa (one more for the sign), the largest finite code, the code of NaN.

    `field` is how many bits one of a pair takes: 6-bit codes lie in bytes. Without a NaN, `nan` is the largest code.
    """

    name: str
    exponent: int
    mantissa: int
    field: int
    largest: int
    nan: int

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def sign(self) -> int:
        return self.exponent + self.mantissa


SMALL = {
    small.name + "x2": small
    for small in (
        Small("e4m3", 4, 3, 8, 0x7E, 0x7F), Small("e5m2", 5, 2, 8, 0x7B, 0x7F),
        Small("e2m1", 2, 1, 4, 0x7, 0x7), Small("e2m3", 2, 3, 8, 0x1F, 0x1F), Small("e3m2", 3, 2, 8, 0x1F, 0x1F),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Conversion:
    """A `cvt` to or from a pair of small floats: `wide` is the other type, None for powers of two (ue8m0)."""

    small: Small | None
    wide: str
    narrows: bool
    relu: bool


def conversion(modifiers: tuple[str, ...]) -> Conversion | None:
    """The conversion of a `cvt` with these modifiers; None for other conversions and unknown forms."""
    target, source = modifiers[-2:] if len(modifiers) >= 2 else ("", "")
    words = set(modifiers[:-2])
    relu = "relu" in words
    if target in SMALL and source in ("f32", "f16x2", "bf16x2") and words - {"relu"} == {"rn", "satfinite"}:
        return Conversion(SMALL[target], source, True, relu)
    if source in SMALL and target == "f16x2" and words - {"relu"} == {"rn"}:
        return Conversion(SMALL[source], target, False, relu)
    if source == "ue8m0x2" and target == "bf16x2" and words == {"rn"}:
        return Conversion(None, target, False, False)
    return None


# ---------------------------------------------------------------- NumPy: tables of values


def values(small: Small) -> np.ndarray:
    """The finite values of all codes without sign."""
    codes = np.arange(small.largest + 1)
    exponent, fraction = codes >> small.mantissa, codes % (1 << small.mantissa) / (1 << small.mantissa)
    normal = np.ldexp(1 + fraction, exponent - small.bias)
    return np.where(exponent == 0, np.ldexp(fraction, 1 - small.bias), normal)


def encode(small: Small, numbers: np.ndarray, relu: bool = False) -> np.ndarray:
    """Codes of float32 (or float64) numbers."""
    table = values(small)
    middles = (table[1:] + table[:-1]) / 2
    magnitude = np.abs(numbers.astype(np.float64))
    below, above = np.searchsorted(middles, magnitude, "left"), np.searchsorted(middles, magnitude, "right")
    code = np.where(below % 2 == 0, below, above)  # in the middle both differ, and one of them is even
    code = code | np.signbit(numbers).astype(int) << small.sign
    if relu:
        code = np.where(np.signbit(numbers), 0, code)
    return np.where(np.isnan(numbers), small.nan, code).astype(np.uint32)


def decode(small: Small, codes: np.ndarray, relu: bool = False) -> np.ndarray:
    """float32 values of codes."""
    known = values(small)
    table = np.full(1 << small.sign, np.nan)
    table[: len(known)] = known
    if small.name == "e5m2":
        table[0x7C] = np.inf
    codes = codes.astype(int)
    value = table[codes % (1 << small.sign)] * np.where(codes >> small.sign & 1, -1.0, 1.0)
    if relu:
        value = np.where(value <= 0, 0.0, value)
    return value.astype(np.float32)


# ---------------------------------------------------------------- LLVM


def emit_encode(small: Small, x: Value) -> Value:
    """Codes (i32) of floats: by integer rounding for normal results, by adding a large number for subnormal ones."""
    drop, m = 23 - small.mantissa, small.mantissa
    bits = x.as_int()
    magnitude = bits & 0x7FFFFFFF
    large = x.number("float", 2.0 ** (23 + 1 - small.bias - m))
    lifted = (magnitude.as_float() + large).as_int()
    subnormal = lifted - large.as_int()
    odd = magnitude >> drop & 1
    rounded = magnitude + ((1 << (drop - 1)) - 1) + odd
    normal = (rounded >> drop) - ((127 - small.bias) << m)
    code = magnitude.below((128 - small.bias) << 23).select(subnormal, normal)
    code = code.above(small.largest).select(small.largest, code)
    sign = bits >> 31 << small.sign
    return x.is_nan().select(small.nan, code | sign)


def emit_decode(small: Small, code: Value) -> Value:
    """Floats of codes (i32): the bits moved to where an f16 has them, and scaled."""
    magnitude = code & (1 << small.sign) - 1
    sign = code >> small.sign & 1
    half = magnitude << 10 - small.mantissa | sign << 15
    value = half.to("i16").as_float().cast("fpext", "float")
    value = value * 2.0 ** (15 - small.bias)
    if small.name == "e4m3":
        value = magnitude.eq(small.nan).select(float("nan"), value)
    return value
