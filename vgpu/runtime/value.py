"""Values in functions of the runtime: SSA names and constants with Python's operators, and the names of their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgpu.runtime.write import Routine

LANES = 32


def vector(kind: str, count: int = LANES) -> str:
    return f"<{count} x {kind}>"


V64, V32, V16, V8, V1 = (vector(f"i{bits}") for bits in (64, 32, 16, 8, 1))
FLOATS = {"half": 16, "float": 32, "double": 64}
_FENCED = (V32, V64)


class Value:
    """An SSA value: `kind` is its LLVM type. Numbers in Python become constants of the other operand's type, and of a
    scalar and a vector the scalar goes to all lanes."""

    __slots__ = ("kind", "routine", "text")

    def __init__(self, routine: Routine, kind: str, text: str):
        self.routine, self.kind, self.text = routine, kind, text

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"

    def _level(self, other) -> tuple[Value, Value]:
        if not isinstance(other, Value):
            return self, Value(self.routine, self.kind, constant(self.kind, other))
        if self.kind[0] == "<" != other.kind[0]:
            return self, self.routine.everywhere(other)
        if self.kind[0] != "<" == other.kind[0]:
            return self.routine.everywhere(self), other
        return self, other

    def binary(self, op: str, other) -> Value:
        """An operation by LLVM's name."""
        a, b = self._level(other)
        return self.routine.value(a.kind, f"{op} {a}, {b.text}")

    def __add__(self, other):
        return self.binary("add", other)

    def __sub__(self, other):
        return self.binary("sub", other)

    def __mul__(self, other):
        return self.binary("mul", other)

    def __and__(self, other):
        return self.binary("and", other)

    def __or__(self, other):
        found = self.binary("or", other)
        return found._fence() if found.kind in _FENCED else found

    def _fence(self) -> Value:
        """The same, out of LLVM's sight: see `lower.emit.Emitter.fence` for what it gets wrong otherwise."""
        whole = vector("double" if self.kind == V64 else "float")
        kept = self.cast("bitcast", whole)
        name = f"llvm.arithmetic.fence.v{LANES}f{element_bits(whole)}"
        return self.routine.call(whole, name, kept).cast("bitcast", self.kind)

    def __xor__(self, other):
        return self.binary("xor", other)

    def __lshift__(self, other):
        return self.binary("shl", other)

    def __rshift__(self, other):
        """Without the sign."""
        return self.binary("lshr", other)

    def __floordiv__(self, other):
        """Without the sign."""
        return self.binary("udiv", other)

    def __mod__(self, other):
        """Without the sign."""
        return self.binary("urem", other)

    def __invert__(self):
        return self.binary("xor", -1)

    def _compare(self, predicate: str, other) -> Value:
        a, b = self._level(other)
        return self.routine.value(like(a.kind, "i1"), f"icmp {predicate} {a}, {b.text}")

    def eq(self, other):
        return self._compare("eq", other)

    def ne(self, other):
        return self._compare("ne", other)

    def below(self, other, signed: bool = False):
        return self._compare("slt" if signed else "ult", other)

    def above(self, other, signed: bool = False):
        return self._compare("sgt" if signed else "ugt", other)

    def reaches(self, other):
        """As much or more, without the sign."""
        return self._compare("uge", other)

    def pick(self, yes, no) -> Value:
        """`yes` where this i1 is set, else `no`; a condition for each lane picks for each."""
        known = yes if isinstance(yes, Value) else no
        a, b = known._level(yes)[1], known._level(no)[1]
        a, b = a._level(b)
        if self.kind[0] == "<" != a.kind[0]:
            a, b = (self.routine.everywhere(v) for v in (a, b))
        return self.routine.value(a.kind, f"select {self}, {a}, {b}")

    def cast(self, op: str, kind: str) -> Value:
        """Another type by LLVM's name of the conversion."""
        return self.routine.value(kind, f"{op} {self} to {kind}")

    def to(self, kind: str, signed: bool = False) -> Value:
        """The same number in another integer type, or as a pointer; a vector is given by the type of its elements too."""
        kind = like(self.kind, kind) if kind[0] != "<" else kind
        if kind == self.kind:
            return self
        if kind.endswith("ptr") or kind.endswith("ptr>"):
            return self.cast("inttoptr", kind)
        if self.kind == "ptr":
            return self.cast("ptrtoint", kind)
        narrower = element_bits(kind) < element_bits(self.kind)
        return self.cast("trunc" if narrower else "sext" if signed else "zext", kind)

    def bit(self) -> Value:
        """The mask, an i32, of the lane of this number."""
        return self.routine.number("i32", 1) << self.to("i32")

    def bits(self) -> Value:
        """A vector of i1 as an i32."""
        return self.cast("bitcast", "i32")

    def lanes(self) -> Value:
        """An i32 as a vector of i1."""
        return self if self.kind == V1 else self.cast("bitcast", V1)

    def lane(self, index: int | Value) -> Value:
        """One element of a vector."""
        at = index if isinstance(index, Value) else f"i32 {index}"
        return self.routine.value(_parts(self.kind)[1], f"extractelement {self}, {at}")

    def shuffle(self, other: Value | None, indices) -> Value:
        """The elements of this vector and another of its kind, in an order; those of the other count on."""
        order = ", ".join(f"i32 {index}" for index in indices)
        kind = vector(_parts(self.kind)[1], len(indices))
        second = other.text if other else "poison"
        return self.routine.value(kind, f"shufflevector {self}, {self.kind} {second}, <{len(indices)} x i32> <{order}>")


def _parts(kind: str) -> tuple[int, str]:
    """How many elements of which type; (0, type) for a scalar."""
    if kind[0] != "<":
        return 0, kind
    count, _, element = kind[1:-1].partition(" x ")
    return int(count), element


def like(kind: str, element: str) -> str:
    """The type with these elements, in the shape of another type."""
    count = _parts(kind)[0]
    return vector(element, count) if count else element


def constant(kind: str, value: int | float | str) -> str:
    count, element = _parts(kind)
    if count:
        return "zeroinitializer" if value == 0 else f"<{', '.join([f'{element} {constant(element, value)}'] * count)}>"
    if kind == "i1":
        return "true" if value else "false"
    return str(value)


def element_bits(kind: str) -> int:
    element = _parts(kind)[1]
    return FLOATS.get(element) or int(element[1:])
