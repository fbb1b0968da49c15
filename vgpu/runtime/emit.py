"""Writing LLVM IR as text: values that are one scalar for the whole warp or one element a lane.

A `Value` knows its LLVM element type and whether it is a vector of 32 lanes. Every operation stays scalar as
long as all its operands are (warp-uniform arithmetic then costs one scalar instruction) and becomes a vector
operation as soon as one of them is a vector.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

LANES = 32


@dataclass(frozen=True, slots=True)
class Value:
    """An SSA name or constant: `type` is the LLVM type of one element, `vector` tells whether there are 32."""

    text: str
    type: str
    vector: bool

    @property
    def full(self) -> str:
        return f"<{LANES} x {self.type}>" if self.vector else self.type


FLOATS = {"half": 16, "float": 32, "double": 64}
_FENCED = ("i32", "i64")
FLOAT_OF_BITS = {bits: name for name, bits in FLOATS.items()}


def width(llvm_type: str) -> int:
    """Bits of one element of an LLVM type."""
    return FLOATS.get(llvm_type) or int(llvm_type[1:])


class Emitter:
    """Appends instructions to the current block of one function."""

    def __init__(self):
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self.count = 0
        self.masked: set[str] = set()  # results of "and"
        self.rooms: set[str] = set()

    # -- names and raw lines

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def room(self, name: str, nbytes: int) -> str:
        """A pointer to memory of the function, set aside once at its beginning: `nbytes` at most."""
        if name not in self.rooms:
            self.rooms.add(name)
            self.lines.insert(0, f"  %{name} = alloca [{nbytes} x i8], align 64")
        return f"%{name}"

    def assign(self, text: str, llvm_type: str, vector: bool) -> Value:
        name = self.name()
        self.line(f"{name} = {text}")
        return Value(name, llvm_type, vector)

    # -- constants and shapes

    def const(self, llvm_type: str, value) -> Value:
        if llvm_type in FLOATS:
            return Value(_float_literal(llvm_type, value), llvm_type, False)
        if llvm_type == "i1":
            return Value("true" if value else "false", "i1", False)
        bits = width(llvm_type)
        return Value(str(int(value) & ((1 << bits) - 1)), llvm_type, False)

    def vector_const(self, llvm_type: str, values) -> Value:
        body = ", ".join(f"{llvm_type} {int(v)}" for v in values)
        return Value(f"<{body}>", llvm_type, True)

    def splat(self, a: Value) -> Value:
        if a.vector:
            return a
        if a.text[0] != "%":
            if a.text in ("0", "false") or a.text == "0x0000000000000000":
                return Value("zeroinitializer", a.type, True)
            return Value("<" + ", ".join([f"{a.type} {a.text}"] * LANES) + ">", a.type, True)
        whole = f"<{LANES} x {a.type}>"
        one = self.assign(f"insertelement {whole} poison, {a.type} {a.text}, i32 0", a.type, True)
        return self.assign(
            f"shufflevector {whole} {one.text}, {whole} poison, <{LANES} x i32> zeroinitializer", a.type, True
        )

    def level(self, *values: Value) -> list[Value]:
        """The values, all of them splat if one is a vector."""
        if any(v.vector for v in values):
            return [self.splat(v) for v in values]
        return list(values)

    # -- operations

    def bin(self, op: str, a: Value, b: Value) -> Value:
        a, b = self.level(a, b)
        result = self.assign(f"{op} {a.full} {a.text}, {b.text}", a.type, a.vector)
        if op == "and":
            self.masked.add(result.text)
        if (
            a.vector
            and a.type in _FENCED
            and (op == "or" or (op in ("add", "xor") and {a.text, b.text} <= self.masked))
        ):
            return self.fence(result)
        return result

    def fence(self, a: Value) -> Value:
        """The same value, out of sight of what LLVM makes of the instructions before and after it.

        With AVX-512 LLVM 22 joins bits of two values by a constant, `x & c | y & ~c`, in one ternary instruction; where
        a select then keeps x or y, it lets that instruction write under a mask, and for one order of the operands gets
        its table wrong. Random programs found it.
        """
        return self.bits(self.intrinsic("llvm.arithmetic.fence", self.as_float(a)))

    def neg(self, a: Value) -> Value:
        if a.type in FLOATS:
            return self.assign(f"fneg {a.full} {a.text}", a.type, a.vector)
        return self.bin("sub", self.const(a.type, 0), a)

    def flip(self, a: Value) -> Value:
        return self.bin("xor", a, self.const(a.type, -1 if a.type != "i1" else 1))

    def icmp(self, predicate: str, a: Value, b: Value) -> Value:
        a, b = self.level(a, b)
        return self.assign(f"icmp {predicate} {a.full} {a.text}, {b.text}", "i1", a.vector)

    def fcmp(self, predicate: str, a: Value, b: Value) -> Value:
        a, b = self.level(a, b)
        return self.assign(f"fcmp {predicate} {a.full} {a.text}, {b.text}", "i1", a.vector)

    def select(self, c: Value, a: Value, b: Value) -> Value:
        if c.vector or a.vector or b.vector:
            a, b = self.splat(a), self.splat(b)
            if c.vector:
                c = self.splat(c)
        return self.assign(f"select {c.full} {c.text}, {a.full} {a.text}, {b.full} {b.text}", a.type, a.vector)

    def cast(self, op: str, a: Value, llvm_type: str) -> Value:
        if a.type == llvm_type:
            return a
        to = f"<{LANES} x {llvm_type}>" if a.vector else llvm_type
        return self.assign(f"{op} {a.full} {a.text} to {to}", llvm_type, a.vector)

    def bits(self, a: Value) -> Value:
        return self.cast("bitcast", a, f"i{width(a.type)}")

    def as_float(self, a: Value) -> Value:
        return self.cast("bitcast", a, FLOAT_OF_BITS[width(a.type)])

    def resize(self, a: Value, bits: int, signed: bool = False) -> Value:
        have = width(a.type)
        if bits == have:
            return a
        op = "trunc" if bits < have else "sext" if signed else "zext"
        return self.cast(op, a, f"i{bits}")

    def intrinsic(self, name: str, *values: Value, result: str | None = None, tail: str = "") -> Value:
        """Call `llvm.NAME` on values of one shape; `tail` is a literal last argument such as ", i1 false"."""
        values = self.level(*values)
        vector = values[0].vector
        result = result or values[0].type

        def suffix(llvm_type: str) -> str:
            short = {"half": "f16", "float": "f32", "double": "f64"}.get(llvm_type, llvm_type)
            return f".v{LANES}{short}" if vector else f".{short}"

        overloads = suffix(values[0].type)
        if name in ("llvm.fptosi.sat", "llvm.fptoui.sat"):
            overloads = suffix(result) + overloads
        full = f"<{LANES} x {result}>" if vector else result
        types = ", ".join(v.full for v in values) + (", i1" if tail else "")
        self.declarations.add(f"declare {full} @{name}{overloads}({types})")
        arguments = ", ".join(f"{v.full} {v.text}" for v in values)
        return self.assign(f"call {full} @{name}{overloads}({arguments}{tail})", result, vector)

    def copy_sign(self, magnitude: Value, sign: Value) -> Value:
        """`magnitude` with the sign of `sign`, in integers, so that `bin` can fence it."""
        a, b = self.bits(magnitude), self.bits(sign)
        top = 1 << (width(a.type) - 1)
        kept = self.bin("and", a, self.const(a.type, top - 1))
        return self.as_float(self.bin("or", kept, self.bin("and", b, self.const(b.type, top))))

    def lanes(self, function: str, *values: Value, result: str) -> Value:
        """Call a runtime function that takes and gives 32-lane vectors."""
        values = [self.splat(v) for v in values]
        types = ", ".join(v.full for v in values)
        self.declarations.add(f"declare <{LANES} x {result}> @{function}({types})")
        arguments = ", ".join(f"{v.full} {v.text}" for v in values)
        return self.assign(f"call <{LANES} x {result}> @{function}({arguments})", result, True)


def _float_literal(llvm_type: str, value: float) -> str:
    if llvm_type == "half":
        return "0xH{:04X}".format(struct.unpack("<H", struct.pack("<e", value))[0])
    if llvm_type == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return "0x{:016X}".format(struct.unpack("<Q", struct.pack("<d", value))[0])
