"""Functions of the runtime written statement by statement in Python.

A `Routine` collects the LLVM IR of one function; values have Python's operators, loops and conditions are `with`
blocks. Variables live in memory, from where LLVM lifts them into registers. LLVM declares its intrinsics by itself.
"""

from __future__ import annotations

from contextlib import contextmanager

from helpers.vgpu.base.context import ERROR_CODE, SITE_SLOT, SLOT

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
        listed = ", ".join(f"{kind} %{word}" for kind, word in pairs)  # a kind may have words after it: ptr noalias
        linkage = "" if name.startswith("wb_") else "internal "
        self.head = f"define {linkage}{result} @{name}({listed}) {words} {{"
        self.result = result
        self.parameters = {word: Value(self, kind.removesuffix(" noalias"), f"%{word}") for kind, word in pairs}
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

    def ramp(self, kind: str, values=range(LANES)) -> Value:
        """A vector of constants, the numbers of the lanes if no others are given."""
        return Value(self, vector(kind), "<" + ", ".join(f"{kind} {value}" for value in values) + ">")

    def everywhere(self, scalar: Value, count: int = LANES) -> Value:
        """A scalar in all elements of a vector."""
        whole = vector(scalar.kind, count)
        if scalar.text[0] != "%":
            return Value(self, whole, f"<{', '.join([str(scalar)] * count)}>")
        one = self.value(whole, f"insertelement {whole} poison, {scalar}, i32 0")
        return self.value(whole, f"shufflevector {one}, {whole} poison, <{count} x i32> zeroinitializer")

    def variable(self, kind: str, initial) -> Variable:
        name = self.name()
        self.places.append(f"%{name} = alloca {kind}, align 8")
        found = Variable(self, kind, Value(self, "ptr", f"%{name}"))
        found.set(initial)
        return found

    def room(self, kind: str) -> Value:
        """Memory of the function's own: a pointer."""
        name = self.name()
        self.places.append(f"%{name} = alloca {kind}, align 64")
        return Value(self, "ptr", f"%{name}")

    def spread(self, lanes: Value) -> Value:
        """A vector laid in memory, so that single lanes of it can be read: a pointer."""
        place = self.room(lanes.kind)
        self.store(place, lanes, 64)
        return place

    def at(self, pointer: Value, offset) -> Value:
        text = offset.to("i64").text if isinstance(offset, Value) else str(offset)
        return self.value("ptr", f"getelementptr i8, ptr {pointer.text}, i64 {text}")

    def load(self, pointer: Value, kind: str = "i64", align: int = 1) -> Value:
        return self.value(kind, f"load {kind}, ptr {pointer.text}, align {align}")

    def store(self, pointer: Value, value: Value, align: int = 1) -> None:
        self.line(f"store {value}, ptr {pointer.text}, align {align}")

    def gather(self, kind: str, addresses: Value, mask: Value) -> Value:
        """One element from each lane's address (V64) where a mask is set, 0 elsewhere."""
        bits, whole = element_bits(kind), vector(kind)
        tail = f"i32 {max(1, bits // 8)}, {mask.lanes()}, {whole} zeroinitializer"
        name = f"llvm.masked.gather.v{LANES}i{bits}.v{LANES}p0"
        return self.value(whole, f"call {whole} @{name}({addresses.to('ptr')}, {tail})")

    def scatter(self, values: Value, addresses: Value, mask: Value) -> None:
        bits = element_bits(values.kind)
        name = f"llvm.masked.scatter.v{LANES}i{bits}.v{LANES}p0"
        self.line(f"call void @{name}({values}, {addresses.to('ptr')}, i32 {max(1, bits // 8)}, {mask.lanes()})")

    def slot(self, name: str) -> Value:
        """A slot of the context."""
        return self.load(self.at(self["ctx"], 8 * SLOT[name]), "i64", 8)

    def set_slot(self, name: str, value) -> None:
        text = value.text if isinstance(value, Value) else str(value)
        self.line(f"store i64 {text}, ptr {self.at(self['ctx'], 8 * SLOT[name]).text}, align 8")

    def site(self, name: str) -> Value:
        """The place of a slot of the site."""
        return self.at(self["site"], 8 * SITE_SLOT[name])

    def bump(self, name: str, amount: Value | int) -> None:
        """Add to a counter of the site; requests to global memory are counted for the warp whose turn it is, too."""
        self.store(self.site(name), self.load(self.site(name), "i64", 8) + amount, 8)
        if name == "requests":
            self.set_slot("asked", self.slot("asked") + amount)

    def copy(self, target: Value, source: Value, nbytes) -> None:
        text = nbytes.to("i64").text if isinstance(nbytes, Value) else str(nbytes)
        self.line(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, i64 {text}, i1 false)")

    def fill(self, target: Value, byte: int, nbytes) -> None:
        text = nbytes.to("i64").text if isinstance(nbytes, Value) else str(nbytes)
        self.line(f"call void @llvm.memset.p0.i64({target}, i8 {byte}, i64 {text}, i1 false)")

    def call(self, result: str, function: str | Value, *arguments: Value) -> Value | None:
        """Call a function by its name or its address."""
        name = function.text if isinstance(function, Value) else f"@{function}"
        text = f"call {result} {name}({', '.join(map(str, arguments))})"
        if result == "void":
            self.line(text)
            return None
        return self.value(result, text)

    def fail(self, code: str, site: Value, lanes: Value, addresses: Value) -> None:
        """Report an error of some lanes at their addresses."""
        self.call("void", "fail", self["ctx"], self.number("i64", ERROR_CODE[code]), site, lanes, addresses)

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
        """The block runs for each lane whose bit is set in an i32, the lowest first: it gets the lane as an i64."""
        rest = self.variable("i32", mask)
        with self.repeat() as stop:
            now = rest.get()
            stop(now.eq(0))
            rest.set(now & (now - 1))
            yield self.lowest(now).to("i64")

    @contextmanager
    def each_group(self, values: Value, mask: Value):
        """The block runs for each number (V64) that lanes of a mask have: it gets the number, and its lanes' mask."""
        kept = self.spread(values)  # LLVM would store all 32 of them again for each one that it takes out
        rest = self.variable("i32", mask)
        with self.repeat() as stop:
            now = rest.get()
            stop(now.eq(0))
            value = self.load(self.at(kept, self.lowest(now).to("i64") << 3), "i64", 8)
            same = values.eq(value).bits()
            rest.set(now & ~same)
            yield value, same & now

    def lowest(self, mask: Value) -> Value:
        """The lowest lane whose bit is set in an i32, as an i32; of none 32."""
        return self.call("i32", "llvm.cttz.i32", mask, self.number("i1", 0))
