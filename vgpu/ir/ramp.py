"""Integers of which more is known than their type: a scalar within bounds, and lanes that are evenly apart.

Most addresses of a kernel are `base + step · lane`. As such a ramp they stay one scalar through sums and products, and
an access can compare one address instead of 32. A ramp becomes a vector where an operation needs one. To be widened it
must not wrap around in its narrower type, which only bounds can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vgpu.ir.value import LANES, Number, Value, element_bits, parts, vector

Bounds = tuple[int, int] | None  # the least and the greatest number that it may be, signed


class Bounded(Value):
    """A scalar within `bounds`."""

    __slots__ = ("bounds",)
    shaped = True

    def __init__(self, value: Value, bounds: Bounds):
        super().__init__(value.builder, value.kind, value.text)
        self.bounds = bounds

    def combined(self, op: str, a: Value, b: Value | Number) -> Value | None:
        return _combined(op, a, b)

    def to(self, kind: str, signed: bool = False) -> Value:
        found = super().to(kind, signed)
        return _bounded(found, _widened(self.bounds, signed)) if found.kind[0] == "i" else found


class Ramp(Value):
    """`base` in lane 0, and in each further lane `step` more than in the one before, modulo 2 to its bits.

    `whole_warps`: the base is a multiple of 32, and the step 1.
    """

    __slots__ = ("_found", "_known_until", "base", "bounds", "step", "whole_warps")
    shaped = True

    def __init__(self, base: Value, step: int, bounds: Bounds = None, whole_warps: bool = False):
        self.builder, self.kind = base.builder, vector(base.kind)
        self.base, self.step, self.bounds = base, _signed(step, element_bits(base.kind)), bounds
        self.whole_warps = whole_warps
        self._found, self._known_until = "", -1

    @property
    def text(self) -> str:  # type: ignore[override]
        """The name of the vector, which is written where it is first wanted."""
        if self._known_until != self.builder.labels:
            steps = self.builder.each_lane(self.base.kind, [self.step * lane for lane in range(LANES)])
            self._found = (_scalar(self).splat() + steps).text
            self._known_until = self.builder.labels
        return self._found

    @property
    def is_constant(self) -> bool:
        return False

    def combined(self, op: str, a: Value, b: Value | Number) -> Value | None:
        return _combined(op, a, b)

    def compared(self, predicate: str, a: Value, b: Value | Number) -> Value | None:
        if a is not self:
            return self.compared(_SWAPPED.get(predicate, predicate), self, a)
        b = b if isinstance(b, Value) else self.constant(b)
        apart = 0 < self.step < 1 << element_bits(self.kind) - LANES.bit_length()
        if b.vector or not apart or self.step & (self.step - 1):
            return None
        if predicate in ("eq", "ne"):
            lanes = self._lane_of(_scalar(b))
        elif self.bounds is not None and (predicate[0] == "s" or self.bounds[0] >= 0):
            lanes = self._lanes_below(_scalar(b), predicate[0] == "s", predicate[1:] in ("le", "gt"))
        else:
            return None
        return (~lanes if predicate in _NEGATED else lanes).lanes()

    def _lane_of(self, number: Value) -> Value:
        """The mask of the lane that is equal to a number, or 0."""
        ahead = number - _scalar(self)
        lane = ahead >> self.step.bit_length() - 1
        found = lane.below(LANES).select(lane.bit(), 0)
        return (ahead & self.step - 1).eq(0).select(found, 0) if self.step > 1 else found

    def _lanes_below(self, number: Value, signed: bool, or_equal: bool) -> Value:
        """The mask of the lanes that are less than a number, or as much if asked for; none of them may wrap around."""
        base = _scalar(self)
        ahead = (number - base).intrinsic("llvm.umin", LANES * self.step)  # of lane 0, where it is
        count = (ahead + (self.step - 1 + or_equal)) >> self.step.bit_length() - 1
        mask = (ahead.number("i64", 1) << count.to("i64")) - 1
        return base.compare(base._ordered("le" if or_equal else "lt", signed), number).select(mask.to("i32"), 0)

    def to(self, kind: str, signed: bool = False) -> Value:
        element = parts(kind)[1]
        if element == "ptr":
            return super().to(kind, signed)
        narrow, wide = element_bits(self.kind), element_bits(kind)
        if wide == narrow:
            return self
        if wide < narrow:
            bounds = _fitting(self.bounds, wide)
            return Ramp(_scalar(self).to(element), self.step, bounds, self.whole_warps and bounds is not None)
        bounds = _widened(self.bounds, signed)
        if bounds is None:  # it may wrap around, and then the lanes aren't evenly apart
            return super().to(kind, signed)
        return Ramp(_scalar(self).to(element, signed), self.step, bounds, self.whole_warps)

    def lane(self, index: int | Value) -> Value:
        return self.base + self.step * index if isinstance(index, int) else super().lane(index)


_SWAPPED = {
    f"{sign}{a}": f"{sign}{b}" for sign in "us" for a, b in (("lt", "gt"), ("gt", "lt"), ("le", "ge"), ("ge", "le"))
}
_NEGATED = {"ne", "uge", "sge", "ugt", "sgt"}


def _bare(value: Value) -> Value:
    """The value, with nothing known of it."""
    return Value(value.builder, value.kind, value.text)


def _scalar(value: Value) -> Value:
    return _bare(value.base if isinstance(value, Ramp) else value)


def _bounded(value: Value, bounds: Bounds) -> Value:
    """A scalar of known bounds, if they are known and fit its type."""
    fitting = _fitting(bounds, element_bits(value.kind))
    return value if fitting is None else Bounded(_bare(value), fitting)


def _fitting(bounds: Bounds, bits: int) -> Bounds:
    """The bounds of a number that doesn't wrap around in a type of so many bits; None where it may."""
    return bounds if bounds and -(1 << bits - 1) <= bounds[0] and bounds[1] < 1 << bits - 1 else None


def _widened(bounds: Bounds, signed: bool) -> Bounds:
    """The bounds of a number in a wider type, whose upper bits are zero or its sign."""
    return bounds if bounds and (signed or bounds[0] >= 0) else None


def _signed(number: int, bits: int) -> int:
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _number(value: Value | Number, bits: int) -> int | None:
    """A constant as a signed number, None of anything else."""
    if isinstance(value, Value):
        if value.shaped or not value.text.lstrip("-").isdecimal():
            return None
        value = int(value.text)
    return _signed(value, bits) if isinstance(value, int) else None


@dataclass(frozen=True)
class Operand:
    """What is known of an operand: how far apart its lanes are (0 of a scalar), its bounds, its value if constant."""

    step: int
    bounds: Bounds
    number: int | None
    whole_warps: bool  # whether lane 0 of it is a multiple of 32, and the others follow one by one

    @classmethod
    def of(cls, value: Value | Number, bits: int) -> Operand | None:
        """None for a vector of which nothing is known."""
        if isinstance(value, Ramp):
            return cls(value.step, value.bounds, None, value.whole_warps)
        if isinstance(value, Value) and value.vector:
            return None
        number = _number(value, bits)
        return cls(0, getattr(value, "bounds", None) if number is None else (number, number), number, False)


Known = tuple[
    Bounds, int | None
]  # of a result: its bounds, and its step, which is None where lanes aren't evenly apart


def _combined(op: str, a: Value, b: Value | Number) -> Value | None:
    """The result of an operation on ramps and scalars, where it is one again or has known bounds; None elsewhere."""
    bits = element_bits(a.kind)
    one, other = Operand.of(a, bits), Operand.of(b, bits)
    if op not in _OPERATIONS or one is None or other is None:
        return None
    bounds, step = _OPERATIONS[op](one, other)
    bounds = _fitting(bounds, bits)
    if bounds is not None and bounds[0] == bounds[1]:
        return a.constant(bounds[0])
    if step is None:
        return None
    base = _scalar(a).binary(op, _scalar(b) if isinstance(b, Value) else b)
    return Ramp(base, step, bounds) if step else _bounded(base, bounds)


def _sum(one: Operand, other: Operand) -> Known:
    a, b = one.bounds, other.bounds
    return (a[0] + b[0], a[1] + b[1]) if a and b else None, one.step + other.step


def _difference(one: Operand, other: Operand) -> Known:
    a, b = one.bounds, other.bounds
    return (a[0] - b[1], a[1] - b[0]) if a and b else None, one.step - other.step


def _product(one: Operand, other: Operand) -> Known:
    bounds = None
    if one.bounds and other.bounds:
        ends = [a * b for a in one.bounds for b in other.bounds]
        bounds = min(ends), max(ends)
    if other.number is not None:
        return bounds, one.step * other.number
    if one.number is not None:
        return bounds, other.step * one.number
    return bounds, 0 if one.step == other.step == 0 else None


def _shifted_left(one: Operand, other: Operand) -> Known:
    if other.number is None:
        return None, 0 if one.step == other.step == 0 else None
    a = one.bounds
    return (a[0] << other.number, a[1] << other.number) if a else None, one.step << other.number


def _shifted_right(one: Operand, other: Operand) -> Known:
    """With the sign, which is as good as without where it is known to be 0."""
    steps = one.step, other.step
    if other.number is None or one.bounds is None:
        return None, 0 if steps == (0, 0) else None
    even = steps == (0, 0) or (one.whole_warps and 1 << other.number >= LANES)
    return (one.bounds[0] >> other.number, one.bounds[1] >> other.number), 0 if even else None


def _logically_shifted_right(one: Operand, other: Operand) -> Known:
    if one.bounds is None or one.bounds[0] < 0:
        return None, 0 if one.step == other.step == 0 else None
    return _shifted_right(one, other)


def _masked(one: Operand, other: Operand) -> Known:
    if one.number is not None:
        one, other = other, one
    mask, bounds = other.number, one.bounds
    if mask is None or bounds is None or bounds[0] < 0:
        return (0, mask) if mask is not None and mask >= 0 else None, 0 if one.step == other.step == 0 else None
    bits = (1 << bounds[1].bit_length()) - 1  # that may be set
    most = min(bounds[1], mask & bits)
    if mask & bits in (0, bits):  # all go, or all stay
        return (0 if most == 0 else bounds[0], most), one.step if most else 0
    within = mask & LANES - 1
    if one.whole_warps and within in (0, LANES - 1):
        return (0, most), one.step if within else 0
    return (0, most), 0 if one.step == 0 else None


_OPERATIONS: dict[str, Callable[[Operand, Operand], Known]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "shl": _shifted_left,
    "ashr": _shifted_right,
    "lshr": _logically_shifted_right,
    "and": _masked,
}
