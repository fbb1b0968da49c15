"""Functions of the runtime written statement by statement in Python.

A `Routine` collects the LLVM IR of one function; values have Python's operators, loops and conditions are `with`
blocks. Variables live in memory, from where LLVM lifts them into registers. LLVM declares its intrinsics by itself.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial, reduce
from operator import or_

from vgpu.base.context import ERROR_CODE, SITE_SLOT, SLOT
from vgpu.runtime.value import LANES, Value, constant, element_bits, vector


class Variable:
    """A place in the function's own memory."""

    def __init__(self, routine: Routine, kind: str, pointer: Value):
        self.routine, self.kind, self.pointer = routine, kind, pointer

    def get(self) -> Value:
        return self.routine.load(self.pointer, self.kind, 8)

    def set(self, value) -> None:
        text = value.text if isinstance(value, Value) else constant(self.kind, value)
        self.routine.line(f"store {self.kind} {text}, ptr {self.pointer.text}, align 8")

    def add(self, amount) -> None:
        self.set(self.get() + amount)


class Routine:
    """One function of the runtime: `Routine("wb_f", "ptr ctx, i64 n", "i64")`, its statements, then `str()` of it."""

    def __init__(self, name: str, parameters: str, result: str = "void", words: str = "noinline"):
        pairs = [p.strip().rsplit(" ", 1) for p in parameters.split(",")]
        listed = ", ".join(f"{kind} %{word}" for kind, word in pairs)  # a kind may have words after it: ptr noalias
        linkage = "" if name.startswith("wb_") else "internal "
        self.head = f"define {linkage}{result} @{name}({listed}) {words} {{"
        self.function, self.result = name, result
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

    def at(self, pointer: Value, offset, kind: str = "i8") -> Value:
        """A place so many bytes, or elements of another kind, after a pointer."""
        text = offset.to("i64").text if isinstance(offset, Value) else str(offset)
        return self.value("ptr", f"getelementptr {kind}, ptr {pointer.text}, i64 {text}")

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

    def slot(self, name: str, kind: str = "i64") -> Value:
        """A slot of the context."""
        return self.load(self.at(self["ctx"], 8 * SLOT[name]), kind, 8)

    def set_slot(self, name: str, value) -> None:
        text = value.text if isinstance(value, Value) else str(value)
        self.line(f"store i64 {text}, ptr {self.at(self['ctx'], 8 * SLOT[name]).text}, align 8")

    def add_slot(self, name: str, amount: Value | int) -> Value:
        """Add to a slot of the context: the sum."""
        total = self.slot(name) + amount
        self.set_slot(name, total)
        return total

    def site(self, name: str) -> Value:
        """The place of a slot of the site."""
        return self.at(self["site"], 8 * SITE_SLOT[name])

    def known(self, name: str) -> Value:
        """A slot of the site."""
        return self.load(self.site(name), "i64", 8)

    def set_site(self, **values: Value | int) -> None:
        """Set slots of the site."""
        for name, value in values.items():
            self.store(self.site(name), value if isinstance(value, Value) else self.number("i64", value), 8)

    def bump(self, name: str, amount: Value | int) -> None:
        """Add to a counter of the site; requests to global memory are counted for the warp whose turn it is, too."""
        place = self.site(name)
        self.store(place, self.load(place, "i64", 8) + amount, 8)
        if name == "requests":
            self.add_slot("slice_requests", amount)

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

    def pass_on(self, function: str) -> None:
        """Another function of the same parameters and result does the rest."""
        given = ", ".join(map(str, self.parameters.values()))
        if self.result == "void":
            self.line(f"tail call void @{function}({given})")
            self.give()
        else:
            self.give(self.value(self.result, f"tail call {self.result} @{function}({given})"))

    # -- control

    def go(self, label: str, condition: Value | None = None) -> None:
        """Go on at a label, if an i1 is set or always."""
        if condition is None:
            return self.line(f"br label %{label}")
        name = self.name()
        self.line(f"br {condition}, label %{label}, label %{name}.else")
        self.label(f"{name}.else")

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
        """The block runs again and again until `stop()` or `stop(condition)`, which it gets, or `give` leaves it."""
        name = self.name()
        self.label(f"{name}.again")
        yield partial(self.go, f"{name}.out")
        if not self.ended:
            self.go(f"{name}.again")
        self.label(f"{name}.out")

    @contextmanager
    def once(self):
        """The block runs; it gets `leave()`, or `leave(condition)`, which goes to its end, also out of loops in it."""
        name = self.name()
        yield partial(self.go, f"{name}.out")
        self.label(f"{name}.out")

    @contextmanager
    def count_to(self, end, start=0):
        """The block runs for each number from `start` up to, and without, `end`: of its kind, or an i64."""
        index = self.variable(end.kind if isinstance(end, Value) else "i64", start)
        with self.repeat() as stop:
            i = index.get()
            stop(i.below(end) ^ 1)
            yield i
            index.add(1)

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
        """The block runs for each number (V64) that lanes of a mask have: it gets the number, its lanes' mask, and
        the lowest of its lanes."""
        kept = self.spread(values)  # LLVM would store all 32 of them again for each one that it takes out
        rest = self.variable("i32", mask)
        with self.repeat() as stop:
            now = rest.get()
            stop(now.eq(0))
            lane = self.lowest(now).to("i64")
            value = self.load(self.at(kept, lane, "i64"), "i64", 8)
            same = values.eq(value).bits()
            rest.set(now & ~same)
            yield value, same & now, lane

    def among(self, value: Value, numbers) -> Value:
        """Whether a value is one of several numbers: an i1."""
        return reduce(or_, [value.eq(number) for number in numbers])

    def many(self, mask: Value) -> Value:
        """How many bits are set in an i32."""
        return self.call("i32", "llvm.ctpop.i32", mask)

    def lowest(self, mask: Value) -> Value:
        """The lowest lane whose bit is set in an i32, as an i32; of none 32."""
        return self.call("i32", "llvm.cttz.i32", mask, self.number("i1", 0))
