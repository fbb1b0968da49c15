"""SSA values and constants of LLVM IR with Python's operators, and the names of their types."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgpu.ir.builder import Builder

Number = int | float | str  # a constant; a string stands for itself, as "null" does

LANES = 32
FLOATS = {"half": 16, "float": 32, "double": 64}
FLOAT_OF_BITS = {bits: name for name, bits in FLOATS.items()}


def vector(kind: str, count: int = LANES) -> str:
    return f"<{count} x {kind}>"


V64, V32, V16, V8, V1 = (vector(f"i{bits}") for bits in (64, 32, 16, 8, 1))
_FENCED = (V32, V64)
_ZEROS = ("0", "false", "0x0000000000000000")


class Value:
    """An SSA value or a constant: `kind` is its LLVM type, a scalar that all lanes share or a vector of one each.

    The operators follow the type: `+` is `add` of integers and `fadd` of floats. Integers are unsigned unless a name
    says otherwise. A Python number becomes a constant of the other operand's type; of a scalar and a vector, the
    scalar is broadcast. What has only scalar operands stays scalar, so what is the same in all lanes costs one
    instruction.
    """

    __slots__ = ("builder", "kind", "text")
    shaped = False  # whether more is known of it, as `ramp` has it

    def __init__(self, builder: Builder, kind: str, text: str):
        self.builder, self.kind, self.text = builder, kind, text

    def __str__(self) -> str:
        """As an operand: type and name."""
        return f"{self.kind} {self.text}"

    @property
    def vector(self) -> bool:
        return self.kind[0] == "<"

    @property
    def element(self) -> str:
        """The type of one element, or of the scalar."""
        return parts(self.kind)[1]

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS

    @property
    def is_constant(self) -> bool:
        return self.text[0] != "%"

    def number(self, kind: str, value: Number) -> Value:
        """A constant of another type."""
        return Value(self.builder, kind, constant(kind, value))

    def constant(self, value: Number) -> Value:
        """A scalar constant of this value's type."""
        return self.number(self.element, value)

    def _level(self, other: Value | Number) -> tuple[Value, Value]:
        if not isinstance(other, Value):
            return self, self.number(self.kind, other)
        if self.vector != other.vector:
            return self.splat(other.count), other.splat(self.count)
        return self, other

    @property
    def count(self) -> int:
        """How many elements, 0 of a scalar."""
        return parts(self.kind)[0]

    # -- arithmetic

    def binary(self, op: str, other: Value | Number) -> Value:
        """An operation by LLVM's name."""
        for shaped in (self, other):
            if isinstance(shaped, Value) and shaped.shaped and (found := shaped.combined(op, self, other)) is not None:
                return found
        a, b = self._level(other)
        builder = self.builder
        found = builder.value(a.kind, f"{op} {a}, {b.text}")
        if op == "and":
            builder.masked.add(found.text)
        elif a.kind in _FENCED and (op == "or" or (op in ("add", "xor") and {a.text, b.text} <= builder.masked)):
            return found.fence()
        return found

    def combined(self, op: str, a: Value, b: Value | Number) -> Value | None:
        """An operation with this as one of its two operands, where more is known of its result."""
        return None

    def compared(self, predicate: str, a: Value, b: Value | Number) -> Value | None:
        """A comparison with this as one of its two operands, where what is known makes it simpler."""
        return None

    def fence(self) -> Value:
        """The same value, out of sight of what LLVM makes of the instructions before and after it.

        With AVX-512 LLVM 22 joins bits of two values by a constant, `x & c | y & ~c`, in one ternary instruction; where
        a select then keeps x or y, it lets that instruction write under a mask, and for one order of the operands gets
        its table wrong. Random programs found it.
        """
        return self.as_float().intrinsic("llvm.arithmetic.fence").as_int()

    def _arithmetic(self, op: str, other: Value | Number) -> Value:
        return self.binary("f" + op if self.is_float else op, other)

    def __add__(self, other: Value | Number) -> Value:
        return self._arithmetic("add", other)

    def __sub__(self, other: Value | Number) -> Value:
        return self._arithmetic("sub", other)

    def __mul__(self, other: Value | Number) -> Value:
        return self._arithmetic("mul", other)

    def __rsub__(self, other: Number) -> Value:
        return self.number(self.kind, other) - self

    def __neg__(self) -> Value:
        return self.builder.value(self.kind, f"fneg {self}") if self.is_float else 0 - self

    def __truediv__(self, other: Value | Number) -> Value:
        """Of floats."""
        return self.binary("fdiv", other)

    def __rtruediv__(self, other: Number) -> Value:
        return self.number(self.kind, other) / self

    def __floordiv__(self, other: Value | Number) -> Value:
        return self.binary("udiv", other)

    def __mod__(self, other: Value | Number) -> Value:
        return self.binary("urem", other)

    def __and__(self, other: Value | Number) -> Value:
        return self.binary("and", other)

    def __or__(self, other: Value | Number) -> Value:
        return self.binary("or", other)

    def __xor__(self, other: Value | Number) -> Value:
        return self.binary("xor", other)

    def __invert__(self) -> Value:
        return self.binary("xor", -1)

    def __lshift__(self, other: Value | Number) -> Value:
        return self.binary("shl", other)

    def __rlshift__(self, other: Number) -> Value:
        return self.number(self.kind, other) << self

    def __rshift__(self, other: Value | Number) -> Value:
        return self.binary("lshr", other)

    def ashr(self, other: Value | Number) -> Value:
        """A shift to the right that keeps the sign."""
        return self.binary("ashr", other)

    def copy_sign(self, sign: Value) -> Value:
        """A float's magnitude with another's sign; in integers, which `binary` can fence."""
        magnitude, sign_bits = self.as_int(), sign.as_int()
        top = 1 << (element_bits(magnitude.kind) - 1)
        return ((magnitude & (top - 1)) | (sign_bits & top)).as_float()

    def intrinsic(self, name: str, *others: Value | Number, flag: bool | None = None) -> Value:
        """A call of `llvm.NAME` for this value and others of its type; `flag` is a last argument, an i1."""
        values = [self, *(o if isinstance(o, Value) else self.constant(o) for o in others)]
        count = max(value.count for value in values)
        values = [value.splat(count) for value in values]
        kind = values[0].kind
        given = ", ".join(map(str, values)) + ("" if flag is None else f", i1 {constant('i1', flag)}")
        return self.builder.value(kind, f"call {kind} @{name}{_overload(kind)}({given})")

    def reduce(self, name: str) -> Value:
        """All elements in one by `llvm.vector.reduce.NAME`."""
        element = self.element
        return self.builder.value(element, f"call {element} @llvm.vector.reduce.{name}{_overload(self.kind)}({self})")

    def lanewise(self, function: str, *others: Value, result: str) -> Value:
        """A call of a function of the runtime, which takes 32 elements of each value and gives 32, or 1 of scalars."""
        given = self, *others
        found = self.builder.call(vector(result), function, *(value.splat() for value in given))
        return found if any(value.vector for value in given) else found.lane(0)

    # -- comparisons: i1, a vector of them for vectors

    def compare(self, predicate: str, other: Value | Number) -> Value:
        """By LLVM's name of the predicate, of `icmp` or `fcmp`."""
        for shaped in (self, other):
            if isinstance(shaped, Value) and shaped.shaped and (found := shaped.compared(predicate, self, other)):
                return found
        a, b = self._level(other)
        op = "fcmp" if a.is_float else "icmp"
        return self.builder.value(like(a.kind, "i1"), f"{op} {predicate} {a}, {b.text}")

    def eq(self, other: Value | Number) -> Value:
        return self.compare("oeq" if self.is_float else "eq", other)

    def ne(self, other: Value | Number) -> Value:
        return self.compare("une" if self.is_float else "ne", other)

    def below(self, other: Value | Number, signed: bool = False) -> Value:
        return self.compare(self._ordered("lt", signed), other)

    def above(self, other: Value | Number, signed: bool = False) -> Value:
        return self.compare(self._ordered("gt", signed), other)

    def reaches(self, other: Value | Number, signed: bool = False) -> Value:
        """Whether it is as much or more."""
        return self.compare(self._ordered("ge", signed), other)

    def _ordered(self, word: str, signed: bool) -> str:
        return ("o" if self.is_float else "s" if signed else "u") + word

    def is_nan(self) -> Value:
        return self.compare("uno", self)

    def select(self, yes: Value | Number, no: Value | Number) -> Value:
        """`yes` where this i1 is set, else `no`; a condition for each lane selects for each. One must be a Value."""
        known = yes if isinstance(yes, Value) else no
        if not isinstance(known, Value):
            raise TypeError("select between two Python numbers: give one of them a type with number()")
        a, b = (v if isinstance(v, Value) else known.constant(v) for v in (yes, no))
        count = max(self.count, a.count, b.count)
        a, b = a.splat(count), b.splat(count)
        return self.builder.value(a.kind, f"select {self}, {a}, {b}")

    # -- types and shapes

    def cast(self, op: str, kind: str) -> Value:
        """Another type by LLVM's name of the conversion: of the elements, or as a whole where `kind` is a vector."""
        kind = kind if kind[0] == "<" else like(self.kind, kind)
        return self if kind == self.kind else self.builder.value(kind, f"{op} {self} to {kind}")

    def bitcast(self, kind: str) -> Value:
        """The same bits as one value of another type, vector or scalar."""
        return self if kind == self.kind else self.builder.value(kind, f"bitcast {self} to {kind}")

    def as_int(self) -> Value:
        """The bits of each element as an integer."""
        return self.cast("bitcast", f"i{element_bits(self.kind)}")

    def as_float(self) -> Value:
        """The bits of each element as a float."""
        return self.cast("bitcast", FLOAT_OF_BITS[element_bits(self.kind)])

    def to(self, kind: str, signed: bool = False) -> Value:
        """The same number as another integer or a pointer; for a vector, the type of an element will do."""
        kind = kind if kind[0] == "<" else like(self.kind, kind)
        if kind == self.kind:
            return self
        if parts(kind)[1] == "ptr":
            return self.cast("inttoptr", kind)
        if self.kind == "ptr":
            return self.cast("ptrtoint", kind)
        narrower = element_bits(kind) < element_bits(self.kind)
        if self.text.isdecimal():  # a constant stays one
            bits = element_bits(self.kind)
            negative = signed and int(self.text) >> bits - 1
            return self.number(kind, int(self.text) - (negative << bits))
        return self.cast("trunc" if narrower else "sext" if signed else "zext", kind)

    def bit(self) -> Value:
        """The mask, an i32, of the lane of this number."""
        return 1 << self.to("i32")

    def bits(self) -> Value:
        """An i1 of each lane, or one for all, as the bits of an i32."""
        return self.splat().bitcast("i32")

    def lanes(self) -> Value:
        """An i32 as a vector of i1."""
        return self.bitcast(V1)

    def splat(self, count: int = LANES) -> Value:
        """A scalar in all elements of a vector; a vector is itself, and so is anything for a count of 0."""
        if self.vector or not count:
            return self
        whole = vector(self.kind, count)
        if self.is_constant:
            return self.number(whole, self.text)
        one = self.builder.value(whole, f"insertelement {whole} poison, {self}, i32 0")
        return self.builder.value(whole, f"shufflevector {one}, {whole} poison, <{count} x i32> zeroinitializer")

    def lane(self, index: int | Value) -> Value:
        """One element of a vector."""
        at = index if isinstance(index, Value) else f"i32 {index}"
        return self.builder.value(self.element, f"extractelement {self}, {at}")

    def shuffle(self, other: Value | None, indices: Iterable[int]) -> Value:
        """The elements of this vector and another of its kind, in an order; those of the other count on."""
        listed = [f"i32 {index}" for index in indices]
        second, order = other.text if other else "poison", ", ".join(listed)
        text = f"shufflevector {self}, {self.kind} {second}, <{len(listed)} x i32> <{order}>"
        return self.builder.value(vector(self.element, len(listed)), text)


@functools.cache
def parts(kind: str) -> tuple[int, str]:
    """How many elements of which type; (0, type) for a scalar."""
    if kind[0] != "<":
        return 0, kind
    count, _, element = kind[1:-1].partition(" x ")
    return int(count), element


def like(kind: str, element: str) -> str:
    """The type with these elements, in the shape of another type."""
    count = parts(kind)[0]
    return vector(element, count) if count else element


def constant(kind: str, value: Number) -> str:
    """A number as LLVM writes it: integers without a sign, floats by their bits; in all elements of a vector."""
    count, element = parts(kind)
    if count:
        text = constant(element, value)
        return "zeroinitializer" if text in _ZEROS else f"<{', '.join([f'{element} {text}'] * count)}>"
    if isinstance(value, str):
        return value
    if element in FLOATS:
        return _float_literal(element, value)
    if element == "i1":
        return "true" if value else "false"
    return str(int(value) & ((1 << element_bits(element)) - 1))


def _float_literal(kind: str, value: float) -> str:
    if kind == "half":
        return "0xH{:04X}".format(struct.unpack("<H", struct.pack("<e", value))[0])
    if kind == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return "0x{:016X}".format(struct.unpack("<Q", struct.pack("<d", value))[0])


def element_bits(kind: str) -> int:
    element = parts(kind)[1]
    return FLOATS.get(element) or int(element[1:])


@functools.cache
def _overload(kind: str) -> str:
    """A type in the name of an intrinsic: ".v32f32", ".i64"."""
    count, element = parts(kind)
    short = f"f{FLOATS[element]}" if element in FLOATS else element
    return f".v{count}{short}" if count else f".{short}"
