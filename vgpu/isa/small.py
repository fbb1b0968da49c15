"""Floats of 8, 6 and 4 bits: decoding, and encoding by `cvt`, in NumPy by tables and in LLVM by bits.

Sources: "OCP 8-bit Floating Point Specification" (e4m3, e5m2), "OCP Microscaling Formats Specification" (e2m1, e2m3,
e3m2, ue8m0), and "PTX ISA", section on cvt. What ue8m0 makes of 0 and of values beyond its range is that of CUDA's
header cuda_fp8.hpp. The manual draws random bits in figures without words; that the upper one of two neighbours reads
them in reverse was measured on a B200 by others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    small.name: small
    for small in (
        Small("e4m3", 4, 3, 8, 0x7E, 0x7F), Small("e5m2", 5, 2, 8, 0x7B, 0x7F),
        Small("e2m1", 2, 1, 4, 0x7, 0x7), Small("e2m3", 2, 3, 8, 0x1F, 0x1F), Small("e3m2", 3, 2, 8, 0x1F, 0x1F),
        Small("f16", 5, 10, 16, 0x7BFF, 0x7FFF), Small("bf16", 8, 7, 16, 0x7F7F, 0x7FFF),
    )
}  # fmt: skip
HALVES = ("f16", "bf16")
NARROW = tuple(name for name in SMALL if name not in HALVES)
RANDOM_BITS = 16  # of `.rs` for an element; f16 takes 13, which is all that it drops of a float's mantissa


@dataclass(frozen=True)
class Conversion:
    """A `cvt` of two or four numbers at once, to or from small floats or with random bits.

    `target` and `source` are types of an element: names of `SMALL`, f32, or ue8m0 (powers of two, 8 bits without sign).
    `finite`: values beyond the largest become the largest. `rounding`: rn, rz, rp or rs.
    """

    target: str
    source: str
    count: int
    rounding: str
    relu: bool
    finite: bool

    def field(self, kind: str) -> int:
        """Bits between two neighbours of a type in a register."""
        return SMALL[kind].field if kind in SMALL else 8

    @property
    def random(self) -> int:
        """Random bits for an element."""
        return 13 if self.target == "f16" else RANDOM_BITS

    @property
    def operands(self) -> tuple[str, ...]:
        """The shapes of the operands, as `ptx.operand_shapes` spells them."""
        if self.source == "f32":
            sources: tuple[str, ...] = ("s32*4",) if self.count == 4 else ("s32", "s32")
        else:
            sources = (f"s{self.count * self.field(self.source)}",)
        return (f"d{self.count * self.field(self.target)}", *sources, *(("s32",) * (self.rounding == "rs")))


# (types of the result, of the source, how many) -> roundings, words that must stand there, and others that may.
# "PTX ISA 9.1", section on cvt; .s2f6x2 is left out.
_FORMS: tuple[tuple[tuple[str, ...], tuple[str, ...], int, tuple[str, ...], set[str], set[str]], ...] = (
    (NARROW, ("f32", *HALVES), 2, ("rn",), {"satfinite"}, {"relu"}),
    (NARROW, ("f32",), 4, ("rs",), {"satfinite"}, {"relu"}),
    (HALVES, ("f32",), 2, ("rs",), set(), {"relu", "satfinite"}),
    (("f16",), NARROW, 2, ("rn",), set(), {"relu"}),
    (("ue8m0",), ("f32", "bf16"), 2, ("rz", "rp"), set(), {"satfinite"}),
    (("bf16",), ("ue8m0",), 2, ("rn",), set(), set()),
)


def conversion(modifiers: tuple[str, ...]) -> Conversion | None:
    """The conversion of a `cvt` with these modifiers; None for other conversions and unknown forms."""
    if len(modifiers) < 3 or len(set(modifiers)) < len(modifiers):
        return None
    *words, target, source = modifiers
    kind, _, count = target.rpartition("x")
    of = "f32" if source == "f32" else source[:-2] if source.endswith("x2") else None
    for targets, sources, numbers, roundings, needs, takes in _FORMS:
        rest = set(words) - takes
        for rounding in roundings:
            if kind in targets and of in sources and count == str(numbers) and rest == needs | {rounding}:
                return Conversion(kind, of, numbers, rounding, "relu" in words, "satfinite" in words)
    return None


def random_fields(found: Conversion, bits: Any) -> list[Any]:
    """The random bits of each element, the highest element first, of the operand `rbits` (uint32, in either engine).

    Two neighbours share 16 bits, the upper one in reverse order ("PTX ISA", figures "Random bits layout for .rs
    rounding"); a half has 16 bits, or the lowest 13 of them, to itself.
    """
    if found.count == 2:
        ones = (1 << found.random) - 1
        return [bits >> 16 & ones, bits & ones]
    if found.target == "e2m1":
        pairs = [bits >> 16 & 0xFF00 | bits >> 8 & 0xFF, bits >> 8 & 0xFF00 | bits & 0xFF]
    else:
        pairs = [bits >> 16, bits & 0xFFFF]
    return [field for pair in pairs for field in (_reversed(pair), pair)]


def _reversed(bits: Any) -> Any:
    """16 bits in reverse order."""
    for step, ones in ((1, 0x5555), (2, 0x3333), (4, 0x0F0F), (8, 0x00FF)):
        bits = (bits >> step & ones) | (bits & ones) << step
    return bits


# ---------------------------------------------------------------- NumPy: tables of values


def values(small: Small) -> np.ndarray:
    """The finite values of all codes without sign."""
    codes = np.arange(small.largest + 1)
    exponent, fraction = codes >> small.mantissa, codes % (1 << small.mantissa) / (1 << small.mantissa)
    normal = np.ldexp(1 + fraction, exponent - small.bias)
    return np.where(exponent == 0, np.ldexp(fraction, 1 - small.bias), normal)


def encode(
    small: Small, numbers: np.ndarray, relu: bool = False, finite: bool = True, random: Any = None, width: int = 0
) -> np.ndarray:
    """Codes of float32 (or float64) numbers, to nearest even, or away from zero where random bits carry.

    `random` are as many integers of `width` bits, to be added to the bits that are dropped.
    """
    magnitude = _magnitude(numbers)
    if random is None:
        table = values(small)
        middles = (table[1:] + table[:-1]) / 2
        below, above = np.searchsorted(middles, magnitude, "left"), np.searchsorted(middles, magnitude, "right")
        code = np.where(below % 2 == 0, below, above)  # in the middle both differ, and one of them is even
    else:
        code = _carried(small, magnitude, random / 2.0**width)
    code = np.minimum(code, small.largest + (not finite)) | np.signbit(numbers).astype(int) << small.sign
    if relu:
        code = np.where(np.signbit(numbers), 0, code)
    return np.where(np.isnan(numbers), small.nan, code).astype(np.uint32)


def _magnitude(numbers: np.ndarray) -> np.ndarray:
    """Absolute values as float64."""
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        return np.abs(numbers.astype(np.float64))


def _carried(small: Small, magnitude: np.ndarray, fraction: np.ndarray) -> np.ndarray:
    """The code below each number plus `fraction` of the distance to the next one; 2^30 beyond a float's range."""
    known = np.isfinite(magnitude)
    number = np.where(known, magnitude, 0.0)
    least = 1 - small.bias  # from here down codes are equally far apart
    exponent = np.where(number < 2.0**least, least, np.frexp(number)[1] - 1)
    steps = np.floor(np.ldexp(number, small.mantissa - exponent) + fraction).astype(np.int64)
    return np.where(known, steps + (exponent + small.bias - 1 << small.mantissa), 1 << 30)


def encode_power(numbers: np.ndarray, up: bool, finite: bool) -> np.ndarray:
    """ue8m0 codes of float32 numbers: the exponent of the power of two below their magnitude, or (`up`) of the one
    that reaches it. 0 and what is below the least become the least; NaN, and beyond the largest unless `finite`, 255.
    """
    magnitude = _magnitude(numbers)
    fraction, exponent = np.frexp(np.where(np.isfinite(magnitude), magnitude, 0.0))
    code = np.clip(exponent + 126 + (up & (fraction > 0.5)), 0, 254 if finite else 255)
    beyond = np.where(np.isnan(magnitude), 255, 254 if finite else 255)
    return np.where(np.isfinite(magnitude) & (magnitude > 0), code, np.where(magnitude == 0, 0, beyond)).astype(
        np.uint32
    )


def decode_power(codes: np.ndarray) -> np.ndarray:
    """float32 values of ue8m0 codes."""
    value = np.ldexp(1.0, codes.astype(int) - 127)
    return np.where(codes == 255, np.nan, value).astype(np.float32)


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


def emit_encode(small: Small, x: Value, finite: bool = True, random: Value | None = None, width: int = 0) -> Value:
    """Codes (i32) of floats, as `encode`: by integer rounding for normal results; others in `_emit_subnormal`."""
    drop, m = 23 - small.mantissa, small.mantissa
    bits = x.as_int()
    magnitude = bits & 0x7FFFFFFF
    more = (random << drop - width) if random is not None else (magnitude >> drop & 1) + ((1 << (drop - 1)) - 1)
    code = (magnitude + more >> drop) - ((127 - small.bias) << m)
    if small.bias < 127:  # bf16 has the exponents of a float, subnormal numbers included
        low = magnitude.below((128 - small.bias) << 23)
        code = low.select(_emit_subnormal(small, magnitude, low, random, width), code)
    largest = small.largest + (not finite)
    code = code.above(largest).select(largest, code)
    sign = bits >> 31 << small.sign
    return x.is_nan().select(small.nan, code | sign)


def _emit_subnormal(small: Small, magnitude: Value, low: Value, random: Value | None, width: int) -> Value:
    """Codes of floats below the least normal number (`low`): by adding a large number, or in 64 bits."""
    if random is None:
        large = magnitude.number("float", 2.0 ** (23 + 1 - small.bias - small.mantissa))
        return (magnitude.as_float() + large).as_int() - large.as_int()
    shift = 24 - small.mantissa + 127 - small.bias - (magnitude >> 23)
    far = shift.above(24 + width)  # nothing carries that far
    shift = low.select(far.select(24 + width, shift), width).to("i64")
    significand = (magnitude & 0x7FFFFF | 0x800000).to("i64")
    return (significand + (random.to("i64") << shift - width) >> shift).to("i32")


def emit_encode_power(x: Value, up: bool, finite: bool) -> Value:
    """ue8m0 codes (i32) of floats, as `encode_power`: their exponent, and 1 more where the mantissa isn't 0."""
    magnitude = x.as_int() & 0x7FFFFFFF
    code = magnitude >> 23
    if up:  # 2^-127 is subnormal
        more = (magnitude & 0x7FFFFF).ne(0) & magnitude.above(0x400000) & magnitude.below(0x7F800000)
        code = code + more.to("i32")
    if finite:
        code = (code.eq(255) & ~x.is_nan()).select(254, code)
    return code


def emit_decode_power(code: Value) -> Value:
    """Floats of ue8m0 codes (i32): the code is the exponent, but for the lowest and the highest."""
    bits = code.eq(0).select(0x400000, code << 23)
    return code.eq(255).select(0x7FFFFFFF, bits).as_float()


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
