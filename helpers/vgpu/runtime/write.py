"""Functions of the runtime written statement by statement in Python, for those that are more than a few lines of IR.

A `Routine` collects the LLVM IR of one function; values have Python's operators, loops and conditions are `with`
blocks. Variables live in memory, from where LLVM lifts them into registers.
"""

from __future__ import annotations

from contextlib import contextmanager

from helpers.vgpu.base.context import SLOT

LANES = 32


def vector(kind: str) -> str:
    return f"<{LANES} x {kind}>"


class Value:
    """An SSA value: `kind` is its LLVM type. Integers in Python become constants of the other operand's type."""

    __slots__ = ("kind", "routine", "text")

    def __init__(self, routine: Routine, kind: str, text: str):
        self.routine, self.kind, self.text = routine, kind, text

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"

    def _other(self, other) -> str:
        return other.text if isinstance(other, Value) else constant(self.kind, other)

    def _binary(self, op: str, other) -> Value:
        return self.routine.value(self.kind, f"{op} {self}, {self._other(other)}")

    def __add__(self, other):
        return self._binary("add", other)

    def __sub__(self, other):
        return self._binary("sub", other)

    def __mul__(self, other):
        return self._binary("mul", other)

    def __and__(self, other):
        return self._binary("and", other)

    def __or__(self, other):
        return self._binary("or", other)

    def __xor__(self, other):
        return self._binary("xor", other)

    def __lshift__(self, other):
        return self._binary("shl", other)

    def __rshift__(self, other):
        """Without the sign."""
        return self._binary("lshr", other)

    def __floordiv__(self, other):
        """Without the sign."""
        return self._binary("udiv", other)

    def __mod__(self, other):
        """Without the sign."""
        return self._binary("urem", other)

    def __invert__(self):
        return self._binary("xor", -1)

    def _compare(self, predicate: str, other) -> Value:
        kind = vector("i1") if self.kind[0] == "<" else "i1"
        return self.routine.value(kind, f"icmp {predicate} {self}, {self._other(other)}")

    def eq(self, other):
        return self._compare("eq", other)

    def ne(self, other):
        return self._compare("ne", other)

    def below(self, other, signed: bool = False):
        return self._compare("slt" if signed else "ult", other)

    def above(self, other, signed: bool = False):
        return self._compare("sgt" if signed else "ugt", other)

    def pick(self, yes, no) -> Value:
        """`yes` where this i1 is set, else `no`."""
        kind = yes.kind if isinstance(yes, Value) else no.kind
        a, b = (v.text if isinstance(v, Value) else constant(kind, v) for v in (yes, no))
        return self.routine.value(kind, f"select {self}, {kind} {a}, {kind} {b}")

    def to(self, kind: str, signed: bool = False) -> Value:
        """The same number in another integer type, or as a pointer."""
        if kind == self.kind:
            return self
        if kind == "ptr":
            return self.routine.value(kind, f"inttoptr {self} to ptr")
        if self.kind == "ptr":
            return self.routine.value(kind, f"ptrtoint {self} to {kind}")
        narrower = _bits(kind) < _bits(self.kind)
        return self.routine.value(kind, f"{'trunc' if narrower else 'sext' if signed else 'zext'} {self} to {kind}")

    def bits(self) -> Value:
        """A vector of i1 as an i32."""
        return self.routine.value("i32", f"bitcast {self} to i32")


def constant(kind: str, value: int) -> str:
    if kind[0] == "<":
        element = kind.split(" x ")[1][:-1]
        return "<" + ", ".join([f"{element} {value}"] * LANES) + ">"
    if kind == "i1":
        return "true" if value else "false"
    return str(value)


def _bits(kind: str) -> int:
    return int(kind.split(" x i")[1][:-1]) if kind[0] == "<" else int(kind[1:])


class Variable:
    """A place in the function's own memory."""

    def __init__(self, routine: Routine, kind: str, pointer: Value):
        self.routine, self.kind, self.pointer = routine, kind, pointer

    def get(self) -> Value:
        return self.routine.load(self.pointer, self.kind, 8)

    def set(self, value) -> None:
        text = value.text if isinstance(value, Value) else constant(self.kind, value)
        self.routine.line(f"store {self.kind} {text}, ptr {self.pointer.text}, align 8")


class Routine:
    """One function of the runtime: `Routine("wb_f", "ptr ctx, i64 n", "i64")`, its statements, then `str()` of it."""

    def __init__(self, name: str, parameters: str, result: str = "void", words: str = "noinline"):
        pairs = [p.strip().rsplit(" ", 1) for p in parameters.split(",")]
        listed = ", ".join(f"{kind} %{word}" for kind, word in pairs)
        linkage = "" if name.startswith("wb_") else "internal "
        self.head = f"define {linkage}{result} @{name}({listed}) {words} {{"
        self.result = result
        self.parameters = {word: Value(self, kind, f"%{word}") for kind, word in pairs}
        self.places: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.ended = False

    def __getitem__(self, name: str) -> Value:
        return self.parameters[name]

    def __str__(self) -> str:
        if not self.ended:
            self.line("ret void" if self.result == "void" else "unreachable")
        body = "\n".join(f"  {text}" if not text.endswith(":") else text for text in (*self.places, *self.lines))
        return f"\n{self.head}\nfirst.block:\n{body}\n}}\n"

    # -- statements

    def line(self, text: str) -> None:
        self.lines.append(text)
        self.ended = text.startswith(("br ", "ret ", "unreachable"))

    def label(self, name: str) -> None:
        if not self.ended:
            self.line(f"br label %{name}")
        self.lines.append(f"{name}:")
        self.ended = False

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def value(self, kind: str, text: str) -> Value:
        name = self.name()
        self.line(f"%{name} = {text}")
        return Value(self, kind, f"%{name}")

    def number(self, kind: str, value: int) -> Value:
        return Value(self, kind, constant(kind, value))

    def null(self) -> Value:
        return Value(self, "ptr", "null")

    def variable(self, kind: str, initial) -> Variable:
        name = self.name()
        self.places.append(f"%{name} = alloca {kind}, align 8")
        found = Variable(self, kind, Value(self, "ptr", f"%{name}"))
        found.set(initial)
        return found

    def spread(self, lanes: Value) -> Value:
        """A vector laid in memory, so that single lanes of it can be read: a pointer."""
        name = self.name()
        self.places.append(f"%{name} = alloca {lanes.kind}, align 64")
        self.line(f"store {lanes}, ptr %{name}, align 64")
        return Value(self, "ptr", f"%{name}")

    def at(self, pointer: Value, offset) -> Value:
        text = offset.to("i64").text if isinstance(offset, Value) else str(offset)
        return self.value("ptr", f"getelementptr i8, ptr {pointer.text}, i64 {text}")

    def load(self, pointer: Value, kind: str = "i64", align: int = 1) -> Value:
        return self.value(kind, f"load {kind}, ptr {pointer.text}, align {align}")

    def store(self, pointer: Value, value: Value, align: int = 1) -> None:
        self.line(f"store {value}, ptr {pointer.text}, align {align}")

    def slot(self, name: str) -> Value:
        """A slot of the context."""
        return self.load(self.at(self["ctx"], 8 * SLOT[name]), "i64", 8)

    def set_slot(self, name: str, value) -> None:
        text = value.text if isinstance(value, Value) else str(value)
        self.line(f"store i64 {text}, ptr {self.at(self['ctx'], 8 * SLOT[name]).text}, align 8")

    def copy(self, target: Value, source: Value, nbytes) -> None:
        text = nbytes.to("i64").text if isinstance(nbytes, Value) else str(nbytes)
        self.line(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, i64 {text}, i1 false)")

    def fill(self, target: Value, byte: int, nbytes) -> None:
        text = nbytes.to("i64").text if isinstance(nbytes, Value) else str(nbytes)
        self.line(f"call void @llvm.memset.p0.i64({target}, i8 {byte}, i64 {text}, i1 false)")

    def call(self, result: str, function: str, *arguments: Value) -> Value | None:
        text = f"call {result} @{function}({', '.join(map(str, arguments))})"
        if result == "void":
            self.line(text)
            return None
        return self.value(result, text)

    def give(self, value: Value | None = None) -> None:
        self.line("ret void" if value is None else f"ret {value}")

    # -- control

    @contextmanager
    def when(self, condition: Value):
        """The block runs if an i1 is set."""
        name = self.name()
        self.line(f"br {condition}, label %{name}.yes, label %{name}.on")
        self.label(f"{name}.yes")
        yield
        self.label(f"{name}.on")

    @contextmanager
    def repeat(self):
        """The block runs again and again until `stop(condition)`, which it gets, or `give` leaves it."""
        name = self.name()
        self.label(f"{name}.again")

        def stop(condition: Value) -> None:
            more = self.name()
            self.line(f"br {condition}, label %{name}.out, label %{more}.more")
            self.label(f"{more}.more")

        yield stop
        if not self.ended:
            self.line(f"br label %{name}.again")
        self.label(f"{name}.out")

    @contextmanager
    def count_to(self, end, start=0):
        """The block runs for each i64 from `start` up to, and without, `end`."""
        index = self.variable("i64", start)
        with self.repeat() as stop:
            i = index.get()
            stop(i.below(end) ^ 1)
            yield i
            index.set(index.get() + 1)

    @contextmanager
    def each(self, mask: Value):
        """The block runs for each lane whose bit is set in an i32: it gets the lane as an i64."""
        rest = self.variable("i32", mask)
        with self.repeat() as stop:
            now = rest.get()
            stop(now.eq(0))
            lane = self.value("i32", f"call i32 @llvm.cttz.i32({now}, i1 true)")
            rest.set(now & (now - 1))
            yield lane.to("i64")
